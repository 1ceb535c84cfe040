// Package guard decides whether a change made a service slower: whether a
// difference between two versions of it is above or below a bound.
//
// Both versions run in turn, block by block, in random order within a block, or at
// the same time on random halves of the processors. The decision is made as soon as it is certain enough, see [Decision]: the change
// is [Worse] if the whole 95% interval of a difference is above its bound, and
// [Fine] if all intervals are below theirs. The interval holds at all looks
// together, so the guard may look after each block.
package guard
