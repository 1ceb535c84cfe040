package lab

import (
	"math/rand/v2"
	"slices"
)

// A turn is a run that is to be made.
type turn struct {
	number int // from 1
	repeat int // from 1
	of     int // which of the cases
}

// order returns all turns. They come in blocks of one of each case; a block is
// shuffled, and the next one is its mirror, ABBA: of a machine that grows slower
// or faster steadily, both halves of such a pair have the same share.
func order(cases, repeats int, seed uint64) []turn {
	chance := rand.New(rand.NewPCG(seed, 0x6c6162))
	var turns []turn
	var block []int
	for repeat := range repeats {
		if repeat%2 == 0 {
			block = chance.Perm(cases)
		} else {
			slices.Reverse(block)
		}
		for _, of := range block {
			turns = append(turns, turn{number: len(turns) + 1, repeat: repeat + 1, of: of})
		}
	}
	return turns
}
