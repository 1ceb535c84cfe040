package front

import (
	"github.com/weirhq/weir/front/condition"
	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/feature/cors"
	"github.com/weirhq/weir/front/feature/errorpages"
	"github.com/weirhq/weir/front/feature/maintenance"
	"github.com/weirhq/weir/front/internal/counts"
	"github.com/weirhq/weir/front/stage"
)

// A route handles the requests that match a pattern: it applies its limits, then its
// stages in order, and then its action.
type route struct {
	label  string         // in the log and in the metrics
	when   *condition.Set // nil for none
	next   *route         // the next route with the same pattern; only if when is not nil
	counts *counts.Route
	events eventSet
	gate   *gate                // nil for a line of the file of redirects, which has no limits
	groups []*gate              // of the groups in which the route is, from the outermost
	limits config.RequestLimits // of each request; not used without a gate
	cors   *cors.Policy         // nil if the upstream decides
	stages []stage.Stage
	action stage.Action

	pages       *errorpages.Pages
	maintenance *maintenance.Response // nil for the usual response to failed connections
	restricts   bool                  // keeps clients from a part of an upstream
	plainHTTP   bool                  // the redirect to https does not apply
	logFields   []logField            // added to the completed event
	logHeaders  *loggedHeaders        // nil for those of all requests
	responses   stage.Stage           // changes all responses of the route, also those of its limits; nil if none does

	position config.Position // in a file
	settings []config.Setting
}

// handle handles a request that the limits of its route have let pass.
func (r *route) handle(x *stage.Exchange) {
	if !r.applyStages(x) {
		r.action.Respond(x)
	}
	x.EndFilters()
}

// applyStages applies the stages, up to the first that has responded. It reports whether
// there was one.
func (r *route) applyStages(x *stage.Exchange) (responded bool) {
	for _, s := range r.stages {
		if s.Apply(x) {
			return true
		}
	}
	return false
}

// An eventSet selects the events that a request writes.
type eventSet uint8

const (
	troubleOnly     eventSet = iota // the completed event, if its severity is WARN or worse
	completedOnly                   // the completed event
	interestingOnly                 // the completed event, and the others if the request is interesting
	allEvents                       // received, proxying and completed
)

// explain returns what the stages and the action do.
func (r *route) explain(x *stage.Exchange) (all []string) {
	parts := make([]stage.Explainer, 0, len(r.stages)+1)
	for _, s := range r.stages {
		parts = append(parts, s)
	}
	for _, part := range append(parts, r.action) {
		steps, ends := part.Explain(x)
		if all = append(all, steps...); ends {
			break
		}
	}
	if r.responses != nil {
		steps, _ := r.responses.Explain(x)
		all = append(all, steps...)
	}
	return all
}
