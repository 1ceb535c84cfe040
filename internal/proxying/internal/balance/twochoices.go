package balance

import "math/rand/v2"

// twoChoices draws two servers at random, by weight, and chooses the one with fewer exchanges in
// flight, relative to its weight. It examines only a few servers, and several front doors with
// the same servers do not all choose the same one, as they may with leastConnections.
func (o *Order) twoChoices() *Member {
	a := o.draw(nil)
	if a == nil {
		return nil
	}
	b := o.draw(a)
	if b == nil || a.inFlight.Load()*b.Weight <= b.inFlight.Load()*a.Weight {
		return a
	}
	return b
}

// maxDraws is how often draw tries a server before it examines all.
const maxDraws = 8

// draw returns a random server other than a given one, by weight, or nil if there is none.
func (o *Order) draw(except *Member) *Member {
	members := o.set.members
	for range maxDraws {
		m := &members[rand.IntN(len(members))]
		if m != except && (o.set.even || rand.Int64N(o.set.heaviest) < m.Weight) && o.takes(m) {
			return m
		}
	}
	var drawn *Member
	total := int64(0)
	for i := range members {
		m := &members[i]
		if m == except || !o.takes(m) {
			continue
		}
		if total += m.Weight; rand.Int64N(total) < m.Weight {
			drawn = m
		}
	}
	return drawn
}
