package lab

import (
	"slices"
	"testing"
)

func TestOrder(t *testing.T) {
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
			if i%2 == 1 {
				for j, turn := range turns[(i-1)*c.cases : i*c.cases] {
					if of[c.cases-1-j] != turn.Case {
						t.Errorf("block %d, %v, is not the mirror of the one before", i, of)
						break
					}
				}
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
