package lab

import (
	"slices"
	"testing"
)

func TestOrderHasEachCaseOncePerBlock(t *testing.T) {
	for _, c := range []struct{ cases, repeats int }{{1, 1}, {2, 10}, {5, 3}, {4, 0}} {
		turns := Order(c.cases, c.repeats, 1)
		if len(turns) != c.cases*c.repeats {
			t.Fatalf("%d cases, %d times each: %d turns", c.cases, c.repeats, len(turns))
		}
		for i, block := range slices.Collect(slices.Chunk(turns, c.cases)) {
			var of []int
			for j, turn := range block {
				if turn.Number != i*c.cases+j+1 || turn.Repeat != i+1 {
					t.Errorf("turn %d of block %d is %+v", j, i, turn)
				}
				of = append(of, turn.Case)
			}
			slices.Sort(of)
			for j := range c.cases {
				if of[j] != j {
					t.Errorf("block %d has the cases %v", i, of)
					break
				}
			}
		}
	}
	if slices.Equal(Order(20, 2, 1), Order(20, 2, 2)) {
		t.Error("two seeds give the same order")
	}
	if !slices.Equal(Order(20, 2, 1), Order(20, 2, 1)) {
		t.Error("one seed gives two orders")
	}
}

func TestEverySecondBlockOfDuetsIsMirrored(t *testing.T) {
	turns := Order(2, 41, 1)
	mirror(turns, 2)
	first := map[int]int{}
	for i := 0; i+3 < len(turns); i += 4 {
		of := []int{turns[i].Case, turns[i+1].Case, turns[i+2].Case, turns[i+3].Case}
		if of[0] == of[1] || of[2] != of[1] || of[3] != of[0] {
			t.Errorf("two blocks have the cases %v", of)
		}
		first[of[0]]++
	}
	if len(first) != 2 || turns[81].Case == turns[80].Case {
		t.Errorf("the first cases are %v, and the last block has %+v", first, turns[80:])
	}
}

// Of three cases, each of the 36 orders of two blocks is as frequent as the others.
func TestBlocksAreShuffledIndependently(t *testing.T) {
	const seeds = 3600
	counts := map[[6]int]int{}
	for seed := range uint64(seeds) {
		var order [6]int
		for i, turn := range Order(3, 2, seed) {
			order[i] = turn.Case
		}
		counts[order]++
	}
	if len(counts) != 36 {
		t.Errorf("%d different orders, want 36", len(counts))
	}
	for order, n := range counts {
		if n < 50 || n > 150 { // 100, and five standard deviations
			t.Errorf("the order %v occurs %d times in %d, want about 100", order, n, seeds)
		}
	}
}
