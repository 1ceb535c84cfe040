package rotation

import (
	"math"
	"sync"
	"testing"
)

// TestRotationIsEven counts the numbers below a share of the range, among all numbers and
// among each k-th one.
func TestRotationIsEven(t *testing.T) {
	t.Parallel()
	const n = 1000
	for _, step := range []uint64{GoldenRatio, RootOfTwo} {
		for _, every := range []int{1, 2, 3, 5, 10} {
			for _, percent := range []uint64{1, 5, 10, 50, 95} {
				var r Rotation
				r.Start(step)
				hits := 0
				for i := range n * every {
					if r.Next(100) < percent && i%every == 0 {
						hits++
					}
				}
				if want := float64(n * percent / 100); math.Abs(float64(hits)-want) > 2*math.Log2(n) {
					t.Errorf("step %#x: %d of %d numbers are below %d%%, counting each %d. one", step, hits, n, percent, every)
				}
			}
		}
	}
}

// TestRotationsAreIndependent uses two rotations for the same requests: a tenth of each
// share of the first must be in a tenth of the second.
func TestRotationsAreIndependent(t *testing.T) {
	t.Parallel()
	var first, second Rotation
	first.Start(GoldenRatio)
	second.Start(RootOfTwo)
	const n = 20_000
	both := 0
	for range n {
		a, b := first.Next(100) < 5, second.Next(100) < 10
		if a && b {
			both++
		}
	}
	if want := n * 5 / 1000; both < want*8/10 || both > want*12/10 {
		t.Errorf("%d of %d requests are in both shares, want %d", both, n, want)
	}
}

// TestRotationIsShared draws each number once, whichever goroutine asks.
func TestRotationIsShared(t *testing.T) {
	t.Parallel()
	var r Rotation
	r.Start(GoldenRatio)
	const goroutines, each = 8, 1000
	counts := make([]int, goroutines)
	var running sync.WaitGroup
	for g := range goroutines {
		running.Go(func() {
			for range each {
				if r.Next(4) == 0 {
					counts[g]++
				}
			}
		})
	}
	running.Wait()
	sum := 0
	for _, n := range counts {
		sum += n
	}
	if want := goroutines * each / 4; sum < want-10 || sum > want+10 {
		t.Errorf("%d of %d numbers are in a quarter of the range", sum, goroutines*each)
	}
}
