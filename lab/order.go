package lab

import (
	"math/rand/v2"
	"slices"
)

// A Turn is a run that is to be made.
type Turn struct {
	Number int // from 1
	Repeat int // from 1
	Case   int // which of the cases, from 0
}

// Order returns all turns of an experiment. They come in blocks of one of each
// case; a block is shuffled, and the next one is its mirror, ABBA: of a machine
// that grows slower or faster steadily, both halves of such a pair have the same
// share.
func Order(cases, repeats int, seed uint64) []Turn {
	chance := rand.New(rand.NewPCG(seed, 0x6c6162))
	var turns []Turn
	var block []int
	for repeat := range repeats {
		if repeat%2 == 0 {
			block = chance.Perm(cases)
		} else {
			slices.Reverse(block)
		}
		for _, c := range block {
			turns = append(turns, Turn{Number: len(turns) + 1, Repeat: repeat + 1, Case: c})
		}
	}
	return turns
}
