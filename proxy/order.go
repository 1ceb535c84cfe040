package proxy

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

// An order is the order in which one attempt to connect tries the servers of an upstream. It
// contains no server twice.
type order struct {
	up      *Upstream
	set     *serverSet
	now     time.Time
	waiting bool      // only servers that no exchange has just tried
	tried   []*Server // without success
	sentTo  []*Server // by earlier attempts of the exchange; only the last resort contains them
	key     uint64    // of the policy Hash
	group   group

	own  *member // that a sticky cookie names; nil without one
	coin float64 // at random from 0 to 1: a slow start that has grown more gets the exchange
	any  bool    // slow starts do not matter, because there is no other server
	slow bool    // a server was not taken only because of its slow start
	full bool    // a server was not taken only because it has no free place

	hadUsable bool // some server that was tried was usable before
}

// begin begins an order for the servers that the upstream has now.
func (o *order) begin(u *Upstream, now time.Time, waiting bool, sentTo []*Server) {
	*o = order{up: u, set: u.now(), now: now, waiting: waiting, tried: o.tried[:0], sentTo: sentTo}
	if u.SlowStart > 0 {
		o.coin = rand.Float64()
	}
}

// setKey sets the hash of the key of the policy Hash. The key, and not chance, determines the
// slow starts that get the exchange, so that each key moves only once.
func (o *order) setKey(key uint64) { o.key, o.coin = key, scramble(key) }

// setOwn sets the server that a sticky cookie of the request names, if there is one.
func (o *order) setOwn(header []Field, cookie string) {
	FindCookie(header, func(name, value string) bool {
		if name != cookie {
			return false
		}
		for i := range o.set.members {
			if m := &o.set.members[i]; m.cookie.Is(value) {
				o.own = m
			}
		}
		return o.own != nil
	})
}

// failed notes that the server that next has returned could not be connected to.
func (o *order) failed(s *Server) {
	o.tried = append(o.tried, s)
	o.hadUsable = o.hadUsable || o.group != lastResort
}

// takes reports whether the order may continue with a server.
func (o *order) takes(m *member) bool {
	usable := m.usable(o.now) && !m.draining.Load()
	if o.up.SlowStart > 0 {
		m.noteUse(o.now, usable)
	}
	if o.group != lastResort && !usable || m.draining.Load() || !o.untried(m) {
		return false
	}
	if o.up.SlowStart > 0 && !o.any && m.grown(o.now, o.up.SlowStart) <= o.coin {
		o.slow = true
		return false
	}
	if o.up.full(m) {
		o.full = true
		return false
	}
	return true
}

// takesOwn reports whether the order may continue with the server of a sticky cookie. It may
// drain.
func (o *order) takesOwn() bool {
	m := o.own
	return m != nil && (m.usable(o.now) || o.group == lastResort) && o.untried(m)
}

// untried reports whether a server is in the group and was not tried.
func (o *order) untried(m *member) bool {
	if o.group != lastResort && (m.backup != (o.group == usableBackups) || slices.Contains(o.sentTo, m.Server)) {
		return false
	}
	return !slices.Contains(o.tried, m.Server) && !(o.waiting && m.failedAfter(o.now.Add(-probePause)))
}

// usable reports whether the server is not passed over while there are others.
func (s *Server) usable(now time.Time) bool {
	return !s.down(now) && !s.unhealthy.Load() && !s.ejected(now)
}
