package guard

import "github.com/weirhq/weir/lab/results"

// A Block is a run of the base and one of the change, made one after the other
// in random order.
type Block struct {
	Base, Change *results.Run
	Share        float64 // of the time that had passed at its end, at most 1; 1 if it is the last block
}
