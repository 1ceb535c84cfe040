package balance

// SetKey sets the hash of the key of the policy Hash. The key, and not chance, determines the
// slow starts that get the exchange, so that each key moves only once.
func (o *Order) SetKey(key uint64) { o.key, o.coin = key, scramble(key) }

// Place chooses the next server and takes a place at it, which [Server.Leave] ends. It returns nil
// if Full is true, or if no other server is to be tried.
func (o *Order) Place() *Member {
	for {
		m := o.next()
		if m == nil || m.enter(o.settings.Max) {
			return m
		}
	}
}

// next returns the next server. It returns nil if o.full is true, or if no other server is to be
// tried.
func (o *Order) next() *Member {
	o.full = false
	for o.group = usablePrimaries; o.group < noGroup; o.group++ {
		if o.group == lastResort && o.hadUsable {
			return nil
		}
		if o.takesOwn() {
			if o.full = o.isFull(o.own); o.full {
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
func (o *Order) choose() *Member {
	if members := o.set.members; len(members) == 1 {
		if o.takes(&members[0]) {
			return &members[0]
		}
		return nil
	}
	switch o.settings.Policy {
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
