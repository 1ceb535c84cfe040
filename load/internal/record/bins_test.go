package record

import (
	"testing"
	"time"

	"github.com/weirhq/weir/load/pace"
)

// TestVarianceMeasuresEvenness measures bins that match the pace, and bins that do not.
func TestVarianceMeasuresEvenness(t *testing.T) {
	t.Parallel()
	var even, doubled Bins
	for i := range 10_000 {
		due := time.Duration(i) * 100 * time.Microsecond
		even.add(due)
		doubled.add(due - due%(20*time.Millisecond)) // two bins in one
	}
	p := pace.Rate(10_000)
	if mean, v := even.Variance(p, time.Second); mean != 100 || v > .5 {
		t.Errorf("an even pace has %v in a bin, and a variance of %v", mean, v)
	}
	if mean, v := doubled.Variance(p, time.Second); mean != 100 || v < 9_900 || v > 10_100 {
		t.Errorf("two bins' in one has %v in a bin, and a variance of %v; want 10,000", mean, v)
	}
}
