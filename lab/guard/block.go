package guard

import "github.com/weirhq/weir/lab/results"

// The names of the two configurations.
const (
	BaseName   = "base"
	ChangeName = "change"
)

// A Block has one pair of runs, made one after the other in random order. With
// duets it has two pairs: the runs of a pair are made at the same time, on
// halves of the processors, and the second pair has the halves swapped. Which
// side is on the first half first is random.
type Block struct {
	Pairs []Pair
	Share float64 // of the time that had passed at its end, at most 1; 1 if it is the last block
}

// A Pair is a run of the base and one of the change.
type Pair struct{ Base, Change *results.Run }

// newPair returns the pair of two runs in any order.
func newPair(a, b *results.Run) Pair {
	if a.Configuration == ChangeName {
		a, b = b, a
	}
	return Pair{Base: a, Change: b}
}

// failed reports whether a side did not serve.
func (p Pair) failed() bool { return p.Base.ServiceFailed() || p.Change.ServiceFailed() }
