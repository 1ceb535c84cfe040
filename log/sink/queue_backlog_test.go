package sink

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/weirhq/weir/log"
)

// TestMemoryOfBacklogStaysBelowLimit adds and takes lines of random lengths within the limit.
// The memory of the chunks must stay below the limit and one chunk, and an
// empty backlog must have all of its space again.
func TestMemoryOfBacklogStaysBelowLimit(t *testing.T) {
	const size = 1 << 20
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 1))
		b := newBacklog(QueueOptions{Bytes: size})
		longest := 1 << r.IntN(18)
		line := bytes.Repeat([]byte("x"), longest)
		var taken []*chunk
		lines := 0
		for range 20_000 {
			if r.IntN(3) > 0 {
				if n := 1 + r.IntN(longest); b.used+b.cost(n) <= size {
					before, cost := b.used, b.cost(n)
					b.add(log.LevelInfo, line[:n])
					lines++
					if b.used != before+cost {
						t.Fatalf("seed %d: used grew by %d, want %d", seed, b.used-before, cost)
					}
				}
			} else if c := b.take(); c != nil {
				taken = append(taken, c)
			}
			if len(taken) > r.IntN(3) {
				b.release(taken[0])
				taken = taken[1:]
			}
			if got, most := memory(&b, taken), size+(len(taken)+1)*(maxChunkText+queuedLineLen*maxChunkText/textPerLine); got > most {
				t.Fatalf("seed %d, lines up to %d: %d bytes of memory, want %d at most", seed, longest, got, most)
			}
		}
		for c := b.take(); c != nil; c = b.take() {
			taken = append(taken, c)
		}
		for _, c := range taken {
			b.release(c)
		}
		b.trim()
		if b.used != 0 || b.head != nil || b.tail != nil || b.added != uint64(lines) || b.removed != b.added {
			t.Errorf("seed %d: when all is written: %d bytes used, %d lines came, %d went, want %d", seed, b.used, b.added, b.removed, lines)
		}
		if kept := len(b.free) * b.chunkText; kept > maxFreeText {
			t.Errorf("seed %d: %d bytes are kept, want %d at most", seed, kept, maxFreeText)
		}
	}
}

// memory returns the allocated bytes of a backlog and of the chunks taken from
// it.
func memory(b *backlog, taken []*chunk) (n int) {
	of := func(c *chunk) int { return cap(c.text) + queuedLineLen*cap(c.lines) }
	for c := b.head; c != nil; c = c.next {
		n += of(c)
	}
	for _, c := range taken {
		n += of(c)
	}
	for _, c := range b.free {
		n += of(c)
	}
	return n
}
