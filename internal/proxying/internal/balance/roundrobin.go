package balance

// roundRobin chooses servers in turn. A server with the weight 3 gets three exchanges while
// one with the weight 1 gets one, with the others between them if possible: the smooth
// weighted round robin of nginx.
func (o *Order) roundRobin() *Member {
	set := o.set
	if set.even && !o.any && o.group == usablePrimaries && set.primaries > 0 {
		// The same order without the lock. A server that is not taken is replaced by each of the
		// others in turn.
		m := &set.members[(set.turn.Add(1)-1)%uint64(set.primaries)]
		if o.takes(m) {
			return m
		}
	}
	set.mu.Lock()
	defer set.mu.Unlock()
	var best *Member
	total := int64(0)
	for i := range set.members {
		m := &set.members[i]
		if !o.takes(m) {
			continue
		}
		m.current += m.Weight
		total += m.Weight
		if best == nil || m.current > best.current {
			best = m
		}
	}
	if best != nil {
		best.current -= total
	}
	return best
}
