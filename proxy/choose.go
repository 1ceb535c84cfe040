package proxy

// place chooses the next server and takes a place at it. It returns nil if o.full is true, or if
// no other server is to be tried.
func (o *order) place() *member {
	for {
		m := o.next()
		if m == nil || m.enter(o.up.Limit.Max) {
			return m
		}
	}
}

// next returns the next server. It returns nil if o.full is true, or if no other server is to be
// tried.
func (o *order) next() *member {
	o.full = false
	for o.group = usablePrimaries; o.group < noGroup; o.group++ {
		if o.group == lastResort && o.hadUsable {
			return nil
		}
		if o.takesOwn() {
			if o.full = o.up.full(o.own); o.full {
				return nil
			}
			return o.own
		}
		m := o.choose()
		if m == nil && o.slow {
			o.any = true
			m = o.choose()
		}
		if m != nil || o.full {
			return m
		}
	}
	return nil
}

// choose chooses one of the servers that the order takes, or nil if there is none.
func (o *order) choose() *member {
	if members := o.set.members; len(members) == 1 {
		if o.takes(&members[0]) {
			return &members[0]
		}
		return nil
	}
	switch o.up.Balance {
	case LeastConnections:
		return o.leastConnections()
	case TwoChoices:
		return o.twoChoices()
	case Hash:
		return o.highest()
	default:
		return o.roundRobin()
	}
}
