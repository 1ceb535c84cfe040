// Package rotation distributes requests by weight, without randomness and without a lock.
package rotation

import (
	"math/bits"
	"math/rand/v2"
	"sync/atomic"
)

// A Rotation returns numbers that are evenly distributed, not only in the long run: among n
// successive numbers, the numbers in a range are about log(n) more or fewer than expected.
// The numbers are the multiples of an irrational number modulo 1 (a Weyl sequence). Every
// second or k-th of them are evenly distributed too, as a strict turn of upstreams is not:
// clients that alternate between pages and images would get all pages from one. A Rotation
// needs no lock. Goroutines may share it.
type Rotation struct {
	step uint64 // the irrational number, in units of 1/2^64
	at   atomic.Uint64
}

// The steps. Two rotations for the same requests have different ones. Otherwise their
// numbers would depend on each other.
const (
	GoldenRatio uint64 = 0x9e3779b97f4a7c15
	RootOfTwo   uint64 = 0x6a09e667f3bcc909
)

// Start begins at a random number, so that several processes do not act in step.
func (r *Rotation) Start(step uint64) {
	r.step = step
	r.at.Store(rand.Uint64())
}

// Next returns the next number, from 0 to n-1.
func (r *Rotation) Next(n uint64) uint64 {
	number, _ := bits.Mul64(r.at.Add(r.step), n)
	return number
}
