package dashboard

import (
	"strings"

	"github.com/weirhq/weir/internal/snapshot"
)

// changes compare the counters of a snapshot with those of the one before.
type changes struct {
	seconds       float64 // between the two; 0 in the first snapshot
	before, after map[string][]float64
}

// next begins another snapshot, which is taken some seconds after the last one.
func (c *changes) next(seconds float64) {
	c.seconds, c.before, c.after = seconds, c.after, make(map[string][]float64, len(c.after))
}

// counter returns a counter whose total is given. The key is unique among all counters and histograms.
func (c *changes) counter(total float64, key ...string) snapshot.Counter {
	n := snapshot.Counter{Total: total}
	if change := c.since([]float64{total}, key...); change != nil {
		n.PerSecond = change[0] / c.seconds
	}
	return n
}

// since returns the changes of counts, or nil in the first snapshot. What did not exist before was 0. A counter that
// was made again begins with 0, too.
func (c *changes) since(counts []float64, key ...string) []float64 {
	k := strings.Join(key, "\x00")
	c.after[k] = counts
	if c.seconds <= 0 {
		return nil
	}
	changed, before := make([]float64, len(counts)), c.before[k]
	for i, n := range counts {
		changed[i] = n
		if len(before) == len(counts) && before[i] <= n {
			changed[i] -= before[i]
		}
	}
	return changed
}

// quantile returns the upper bound of the bucket that has a quantile of the requests, or nil if there are none or it
// is above all bounds.
func quantile(q float64, counts, upper []float64) *float64 {
	all, below := 0.0, 0.0
	for _, n := range counts {
		all += n
	}
	for i, bound := range upper {
		if i < len(counts) {
			below += counts[i]
		}
		if all > 0 && below >= q*all {
			return &bound
		}
	}
	return nil
}

// plus returns the sum of two lists of counts. One of them may be nil.
func plus(a, b []float64) []float64 {
	if a == nil {
		return b
	}
	sum := make([]float64, len(a))
	copy(sum, a)
	for i := range b {
		sum[i] += b[i]
	}
	return sum
}
