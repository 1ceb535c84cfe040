package balance

import (
	"sync"
	"sync/atomic"
)

// A Set is the servers of an upstream at one time. It does not change, except for the state of
// round robin. It is safe for concurrent use.
type Set struct {
	members   []Member // backups last
	primaries int      // number of members that are no backups
	even      bool     // all weights are the same
	heaviest  int64    // the greatest weight

	turn *atomic.Uint64 // of round robin; the sets of an upstream share it

	mu sync.Mutex // guards Member.current
}

// A Member is a server with the settings that it has in one upstream.
type Member struct {
	*Server
	ID     uint64 // a hash that identifies the server in all processes
	Weight int64  // above 0
	Backup bool

	Index   int   // in the list that NewSet got
	current int64 // of round robin
}

// NewSet returns a set of members. turn belongs to the upstream.
func NewSet(members []Member, turn *atomic.Uint64) *Set {
	set := &Set{even: true, turn: turn}
	var backups []Member
	for i, m := range members {
		m.Index = i
		set.even = set.even && m.Weight == members[0].Weight
		set.heaviest = max(set.heaviest, m.Weight)
		if m.Backup {
			backups = append(backups, m)
		} else {
			set.members = append(set.members, m)
		}
	}
	set.primaries = len(set.members)
	set.members = append(set.members, backups...)
	return set
}
