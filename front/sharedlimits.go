package front

import (
	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/limit"
	"github.com/weirhq/weir/limit/lease"
)

// newSharedRate returns the rate limit of a route that replicas share.
func newSharedRate(leaser *lease.Leaser, route, per string, o limit.RateOptions) *limit.Rate {
	o.Keys = sharedRateKeys
	if per == config.RatePerRoute {
		o.Keys = 1
	}
	return leaser.Rate(route, o)
}

// sharedSlots are the slots of a limit of requests in flight. The zero value are those of a limit
// that replicas do not share.
type sharedSlots struct {
	leaser *lease.Leaser
	slots  *lease.Slots // nil before apply
	max    int          // of all replicas together
}

// apply begins to use the slots for the limit of a route, of which this replica has most at most.
func (s *sharedSlots) apply(route string, l *limit.InFlight, most int) {
	switch {
	case s.leaser == nil:
	case s.slots != nil:
		s.slots.Change(s.max, most)
	default:
		s.slots = s.leaser.Slots(lease.SlotsOptions{Name: route, Max: s.max, Most: most, Limit: l})
	}
}

// of returns the number of slots of this replica, which is n unless slots are shared.
func (s *sharedSlots) of(n int) int {
	if s.slots == nil {
		return n
	}
	return min(n, s.slots.Granted())
}
