package health

import (
	"sync"
	"time"

	"github.com/weirhq/weir/internal/proxying"
)

// A State is the health of one server. It stays with the server when a reload gives the server to
// another Monitor. The zero value is a server that is healthy as far as is known.
type State struct {
	counts counts // of attempts; needs no lock

	mu        sync.Mutex // guards the fields below
	checked   bool       // there was a check
	unhealthy bool
	passed    int // checks in a row
	failed    int
	reason    string    // of the last failure
	ejected   time.Time // until when; zero if it is not ejected
	ejections int       // recent ones; the next ejection is longer by as many
	calm      time.Time // since when there was no ejection, or of the last change of ejections

	before *snapshot // of counts at the end of the last interval; nil before the first one
}

// name returns the state. The caller holds mu.
func (st *State) name() proxying.State {
	switch {
	case st.unhealthy:
		return proxying.Unhealthy
	case !st.ejected.IsZero():
		return proxying.Ejected
	}
	return proxying.Usable
}

// note adds the result of a check, which is nil if it has passed. It reports whether the server
// has become healthy or unhealthy. The first result counts as many: the state before it was only
// an assumption. The caller holds mu.
func (st *State) note(c *Check, result error) (changed bool) {
	if result == nil {
		st.passed, st.failed = st.passed+1, 0
	} else {
		st.passed, st.failed, st.reason = 0, st.failed+1, result.Error()
	}
	first := !st.checked
	st.checked = true
	unhealthy := st.unhealthy
	switch {
	case result != nil && (first || st.failed >= c.Fall):
		unhealthy = true
	case result == nil && (first || st.passed >= c.Rise):
		unhealthy = false
	}
	changed = unhealthy != st.unhealthy
	st.unhealthy = unhealthy
	return changed
}

// forgetChecks makes a server that is not checked any more healthy. The caller holds mu.
func (st *State) forgetChecks() {
	st.checked, st.unhealthy, st.passed, st.failed = false, false, 0, 0
}

// begin begins an interval of the passive checks, and returns the outcomes in the last one. The
// caller holds mu.
func (st *State) begin() sample {
	now := st.counts.snapshot()
	before := st.before
	st.before = now
	if before == nil {
		return sample{}
	}
	return now.since(before)
}
