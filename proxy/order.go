package proxy

import (
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
}

// begin begins an order for the servers that the upstream has now.
func (o *order) begin(u *Upstream, now time.Time, waiting bool, sentTo []*Server) {
	*o = order{up: u, set: u.now(), now: now, waiting: waiting, tried: o.tried[:0], sentTo: sentTo}
}

// failed notes that a server could not be connected to.
func (o *order) failed(s *Server) { o.tried = append(o.tried, s) }

// takes reports whether the order may continue with a server.
func (o *order) takes(m *member) bool {
	if o.group != lastResort && (m.backup != (o.group == usableBackups) || !m.usable(o.now) ||
		slices.Contains(o.sentTo, m.Server)) {
		return false
	}
	return !m.draining.Load() && !slices.Contains(o.tried, m.Server) &&
		!(o.waiting && m.failedAfter(o.now.Add(-probePause)))
}

// usable reports whether the server is not passed over while there are others.
func (s *Server) usable(now time.Time) bool { return !s.down(now) }
