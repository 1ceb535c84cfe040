package load

import (
	"time"

	"github.com/weirhq/weir/load/pace"
)

// sendBins counts the requests sent in each 10 ms of the first ten minutes.
type sendBins struct {
	counts []uint32
}

const (
	binLength = 10 * time.Millisecond
	mostBins  = int(10 * time.Minute / binLength)
)

func (b *sendBins) add(sent time.Duration) {
	i := int(sent / binLength)
	if i >= mostBins || i < 0 {
		return
	}
	for len(b.counts) <= i {
		b.counts = append(b.counts, 0)
	}
	b.counts[i]++
}

// merge adds the counts of another thread.
func (b *sendBins) merge(c *sendBins) {
	for i, n := range c.counts {
		for len(b.counts) <= i {
			b.counts = append(b.counts, 0)
		}
		b.counts[i] += n
	}
}

// variance returns the mean of the counts, and their variance about the number of
// requests due in each bin. Only complete bins within length count.
func (b *sendBins) variance(p pace.Pace, length time.Duration) (mean, variance float64) {
	n := min(int(length/binLength), mostBins)
	if n == 0 {
		return 0, 0
	}
	var sum, squares float64
	before := 0.0
	for i := range n {
		area := p.DueUntil(time.Duration(i+1) * binLength)
		var count float64
		if i < len(b.counts) {
			count = float64(b.counts[i])
		}
		off := count - (area - before)
		sum += count
		squares += off * off
		before = area
	}
	return sum / float64(n), squares / float64(n)
}
