package proxy

import "math/rand/v2"

// leastConnections chooses the server with the fewest exchanges in flight, of all drivers
// together, relative to its weight. Of several with as many, it chooses one at random, by
// weight.
func (o *order) leastConnections() *member {
	var best *member
	var inFlight, ties int64 // of best; the weights of those with as many
	for i := range o.set.members {
		m := &o.set.members[i]
		if !o.takes(m) {
			continue
		}
		n := m.inFlight.Load()
		switch {
		case best == nil || n*best.weight < inFlight*m.weight:
			best, inFlight, ties = m, n, m.weight
		case n*best.weight == inFlight*m.weight:
			if ties += m.weight; rand.Int64N(ties) < m.weight {
				best, inFlight = m, n
			}
		}
	}
	return best
}

// twoChoices draws two servers at random, by weight, and chooses the one with fewer exchanges in
// flight, relative to its weight. It examines only a few servers, and several front doors with
// the same servers do not all choose the same one, as they may with leastConnections.
func (o *order) twoChoices() *member {
	a := o.draw(nil)
	if a == nil {
		return nil
	}
	b := o.draw(a)
	if b == nil || a.inFlight.Load()*b.weight <= b.inFlight.Load()*a.weight {
		return a
	}
	return b
}

// maxDraws is how often draw tries a server before it examines all.
const maxDraws = 8

// draw returns a random server other than a given one, by weight, or nil if there is none.
func (o *order) draw(except *member) *member {
	members := o.set.members
	for range maxDraws {
		m := &members[rand.IntN(len(members))]
		if m != except && (o.set.even || rand.Int64N(o.set.heaviest) < m.weight) && o.takes(m) {
			return m
		}
	}
	var drawn *member
	total := int64(0)
	for i := range members {
		m := &members[i]
		if m == except || !o.takes(m) {
			continue
		}
		if total += m.weight; rand.Int64N(total) < m.weight {
			drawn = m
		}
	}
	return drawn
}
