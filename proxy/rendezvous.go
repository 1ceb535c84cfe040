package proxy

import "math"

// highest chooses the server with the highest score for the key: weighted rendezvous hashing
// (C. Schindelhauer, G. Schomaker, Weighted Distributed Hash Tables, 2005). If a server goes,
// only its keys move, to all others in proportion to their weights, and if it comes back, they
// return. The choice needs no state and is the same in all processes.
func (o *order) highest() *member {
	var best *member
	var highest float64
	for i := range o.set.members {
		m := &o.set.members[i]
		if !o.takes(m) {
			continue
		}
		score := scramble(o.key ^ m.id)
		if !o.set.even {
			score = -float64(m.weight) / math.Log(score)
		}
		if best == nil || score > highest {
			best, highest = m, score
		}
	}
	return best
}
