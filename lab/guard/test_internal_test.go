package guard

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestBoundsSpendTheLevel tries all signs of ten distances, and counts how
// many of them a side rejects at some look. These are at most the level's share,
// and, because sums are discrete, not much less.
func TestBoundsSpendTheLevel(t *testing.T) {
	t.Parallel()
	const blocks = 10
	random := rand.New(rand.NewPCG(1, 31))
	for range 2 {
		var distances [blocks]float64
		for i := range distances {
			distances[i] = math.Round(10*random.ExpFloat64()) / 10 // some are equal, some are 0
		}
		worse, fine := 0, 0
		for signs := range 1 << blocks {
			run := newTest(0, level, 2*level)
			for i, d := range distances {
				if signs>>i&1 == 1 {
					d = -d
				}
				run.add(d, float64(i+1)/blocks)
			}
			switch run.answer {
			case Worse:
				worse++
			case Fine:
				fine++
			}
		}
		for _, side := range []struct {
			answer Answer
			count  int
			level  float64
		}{{Worse, worse, level}, {Fine, fine, 2 * level}} {
			if share := float64(side.count) / (1 << blocks); share > side.level || share < 0.7*side.level {
				t.Errorf("%s: %.4f of all signs are rejected, want at most %.4f and not much less", side.answer, share, side.level)
			}
		}
	}
}

// TestLeastBlocksAreNeeded checks that the signs of fewer blocks decide nothing,
// even if all of the level is spent at once.
func TestLeastBlocksAreNeeded(t *testing.T) {
	t.Parallel()
	run := newTest(0, level, level)
	for range LeastBlocks - 1 {
		run.add(1, 0)
	}
	if run.add(1, 0); run.answer != Undecided {
		t.Errorf("%s before anything is spent", run.answer)
	}
	for blocks := 1; blocks <= LeastBlocks; blocks++ {
		run := newTest(0, level, level)
		for range blocks {
			run.add(-1, 1)
		}
		if decided := run.answer == Fine; decided != (blocks == LeastBlocks) {
			t.Errorf("after %d blocks: %s", blocks, run.answer)
		}
	}
}
