package record

import (
	"time"

	"github.com/weirhq/weir/load/pace"
)

// Bins counts the requests sent in each 10 ms of the first ten minutes.
type Bins struct {
	Counts []uint32
}

const (
	binLength = 10 * time.Millisecond
	mostBins  = int(10 * time.Minute / binLength)
)

func (b *Bins) add(sent time.Duration) {
	i := int(sent / binLength)
	if i >= mostBins || i < 0 {
		return
	}
	for len(b.Counts) <= i {
		b.Counts = append(b.Counts, 0)
	}
	b.Counts[i]++
}

// Merge adds the counts of another thread.
func (b *Bins) Merge(c *Bins) {
	for i, n := range c.Counts {
		for len(b.Counts) <= i {
			b.Counts = append(b.Counts, 0)
		}
		b.Counts[i] += n
	}
}

// Variance returns the mean of the counts, and their variance about the number of
// requests due in each bin. Only complete bins within length count.
func (b *Bins) Variance(p pace.Pace, length time.Duration) (mean, variance float64) {
	n := min(int(length/binLength), mostBins)
	if n == 0 {
		return 0, 0
	}
	var sum, squares float64
	before := 0.0
	for i := range n {
		area := p.DueUntil(time.Duration(i+1) * binLength)
		var count float64
		if i < len(b.Counts) {
			count = float64(b.Counts[i])
		}
		off := count - (area - before)
		sum += count
		squares += off * off
		before = area
	}
	return sum / float64(n), squares / float64(n)
}
