package load

import "testing"

// TestDividedBacklogHasTheSameSum checks that the threads of a run together let as many requests wait as its Backlog
// says. A thread with a negative one lets none wait, and 0 would be no limit.
func TestDividedBacklogHasTheSameSum(t *testing.T) {
	for n := 1; n <= 20; n++ {
		for parts := 1; parts <= 8; parts++ {
			sum := 0
			for i := range parts {
				part := shareBacklog(n, i, parts)
				if part == 0 {
					t.Errorf("part %d of %d of a backlog of %d has no limit", i, parts, n)
				}
				sum += max(part, 0)
			}
			if sum != n {
				t.Errorf("a backlog of %d, divided by %d, has the sum %d", n, parts, sum)
			}
		}
	}
	for _, n := range []int{0, -1} {
		if got := shareBacklog(n, 1, 4); got != n {
			t.Errorf("a part of a backlog of %d is %d", n, got)
		}
	}
}
