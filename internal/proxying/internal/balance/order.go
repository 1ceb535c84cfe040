package balance

import (
	"math/rand/v2"
	"slices"
	"time"
)

// probePause is the time after a failed attempt in which no waiting exchange tries the same
// server. 1,000 of them therefore make at most 100 attempts per second.
const probePause = 10 * time.Millisecond

// A group is the part of the servers of an upstream that an order chooses from. The next group
// is for the time when no server of those before can be used.
type group uint8

const (
	usablePrimaries group = iota
	usableBackups
	lastResort // all servers, if none can be used
	noGroup
)

// An Order is the order in which one attempt to connect tries the servers of an upstream. It
// contains no server twice.
type Order struct {
	Now time.Time // of the next choice

	set      *Set
	settings Settings
	waiting  bool      // only servers that no exchange has just tried
	tried    []*Server // without success
	sentTo   []*Server // by earlier attempts of the exchange; only the last resort contains them
	key      uint64    // of the policy Hash
	group    group

	own  *Member // that the exchange belongs to; nil without one
	coin float64 // at random from 0 to 1: a slow start that has grown more gets the exchange
	any  bool    // slow starts do not matter, because there is no other server
	slow bool    // a server was not taken only because of its slow start
	full bool    // a server was not taken only because it has no free place

	hadUsable bool // some server that was tried was usable before
}

// Begin begins an order. waiting leaves out servers to which another attempt has just failed. sentTo
// are the servers that the request was sent to before.
func (o *Order) Begin(set *Set, settings Settings, now time.Time, waiting bool, sentTo []*Server) {
	*o = Order{Now: now, set: set, settings: settings, waiting: waiting, tried: o.tried[:0], sentTo: sentTo}
	if settings.SlowStart > 0 {
		o.coin = rand.Float64()
	}
}

// SetOwn sets the server that the exchange belongs to, by its [Member.Index].
func (o *Order) SetOwn(index int) {
	for i := range o.set.members {
		if m := &o.set.members[i]; m.Index == index {
			o.own = m
		}
	}
}

// Full reports whether Place has returned nil because a server has no free place.
func (o *Order) Full() bool { return o.full }

// Particular reports whether other exchanges may take servers that this one does not.
func (o *Order) Particular() bool { return o.own != nil || len(o.tried) > 0 || len(o.sentTo) > 0 }

// Failed notes that the server that Place has returned could not be connected to.
func (o *Order) Failed(s *Server) {
	o.tried = append(o.tried, s)
	o.hadUsable = o.hadUsable || o.group != lastResort
}

// takes reports whether the order may continue with a server.
func (o *Order) takes(m *Member) bool {
	usable := m.Usable(o.Now) && !m.draining.Load()
	if o.settings.SlowStart > 0 {
		m.noteUse(o.Now, usable)
	}
	if o.group != lastResort && !usable || m.draining.Load() || !o.untried(m) {
		return false
	}
	if o.settings.SlowStart > 0 && !o.any && m.Grown(o.Now, o.settings.SlowStart) <= o.coin {
		o.slow = true
		return false
	}
	if o.isFull(m) {
		o.full = true
		return false
	}
	return true
}

// takesOwn reports whether the order may continue with the server that the exchange belongs to. It
// may drain.
func (o *Order) takesOwn() bool {
	m := o.own
	return m != nil && (m.Usable(o.Now) || o.group == lastResort) && o.untried(m)
}

// untried reports whether a server is in the group and was not tried.
func (o *Order) untried(m *Member) bool {
	if o.group != lastResort && (m.Backup != (o.group == usableBackups) || slices.Contains(o.sentTo, m.Server)) {
		return false
	}
	return !slices.Contains(o.tried, m.Server) && !(o.waiting && m.failedAfter(o.Now.Add(-probePause)))
}

// isFull reports whether a server has no free place.
func (o *Order) isFull(m *Member) bool {
	return o.settings.Max > 0 && m.inFlight.Load() >= int64(o.settings.Max)
}
