package balance

import "math/rand/v2"

// leastConnections chooses the server with the fewest exchanges in flight, of all drivers
// together, relative to its weight. Of several with as many, it chooses one at random, by
// weight.
func (o *Order) leastConnections() *Member {
	var best *Member
	var inFlight, ties int64 // of best; the weights of those with as many
	for i := range o.set.members {
		m := &o.set.members[i]
		if !o.takes(m) {
			continue
		}
		n := m.inFlight.Load()
		switch {
		case best == nil || n*best.Weight < inFlight*m.Weight:
			best, inFlight, ties = m, n, m.Weight
		case n*best.Weight == inFlight*m.Weight:
			if ties += m.Weight; rand.Int64N(ties) < m.Weight {
				best, inFlight = m, n
			}
		}
	}
	return best
}
