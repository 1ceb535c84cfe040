package balance

import "math"

// highest chooses the server with the highest score for the key: weighted rendezvous hashing
// (C. Schindelhauer, G. Schomaker, Weighted Distributed Hash Tables, 2005). If a server goes,
// only its keys move, to all others in proportion to their weights, and if it comes back, they
// return. The choice needs no state and is the same in all processes.
func (o *Order) highest() *Member {
	var best *Member
	var highest float64
	for i := range o.set.members {
		m := &o.set.members[i]
		if !o.takes(m) {
			continue
		}
		score := scramble(o.key ^ m.ID)
		if !o.set.even {
			score = -float64(m.Weight) / math.Log(score)
		}
		if best == nil || score > highest {
			best, highest = m, score
		}
	}
	return best
}

// scramble returns a number above 0 and below 1 that looks random. Its function is the
// finalizer of SplitMix64.
func scramble(n uint64) float64 {
	n = (n ^ n>>30) * 0xbf58476d1ce4e5b9
	n = (n ^ n>>27) * 0x94d049bb133111eb
	return (float64((n^n>>31)>>11) + 0.5) / (1 << 53)
}
