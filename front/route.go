package front

import (
	"github.com/weirhq/weir/front/config"
)

// A route handles the requests that match a pattern: it applies its limits, then its
// stages in order, and then its action.
type route struct {
	label  string             // in the log and in the metrics
	when   *config.Conditions // nil for none
	next   *route             // the next route with the same pattern; only if when is not nil
	counts *routeCounts
	events eventSet
	gate   *gate                // nil for a line of the file of redirects, which has no limits
	limits config.RequestLimits // of each request; not used without a gate
	cors   *crossOrigin         // nil if the upstream decides
	stages []stage
	action action

	pages       *errorPages
	maintenance *maintenance   // nil for the usual response to failed connections
	restricts   bool           // keeps clients from a part of an upstream
	plainHTTP   bool           // the redirect to https does not apply
	logFields   []logField     // added to the completed event
	logHeaders  *loggedHeaders // nil for those of all requests
	responses   stage          // changes all responses of the route, also those of its limits; nil if none does

	position config.Position // in a file
	settings []config.Setting
}

// A stage handles a request before the action of its route. It may change the request, or add
// a [filter]. It reports whether it has responded, which ends the request. Requests apply the
// same stage concurrently, in goroutines and in coroutines of loops: a stage that may wait must
// do so in x.driver().Block.
type stage interface {
	apply(x *exchange) (responded bool)
}

// An action responds to the requests of a route. The rules of [stage] about waiting apply.
type action interface {
	respond(x *exchange)
}

// handle handles a request that the limits of its route have let pass.
func (r *route) handle(x *exchange) {
	if !r.applyStages(x) {
		r.action.respond(x)
	}
	x.endFilters()
}

// applyStages applies the stages, up to the first that has responded. It reports whether
// there was one.
func (r *route) applyStages(x *exchange) (responded bool) {
	for _, s := range r.stages {
		if s.apply(x) {
			return true
		}
	}
	return false
}

// An eventSet selects the events that a request writes.
type eventSet uint8

const (
	troubleOnly   eventSet = iota // the completed event, if its severity is WARN or worse
	completedOnly                 // the completed event
	allEvents                     // received, proxying and completed
)
