package front

import (
	"fmt"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/feature/access"
	"github.com/weirhq/weir/front/feature/basicauth"
	"github.com/weirhq/weir/front/feature/compress"
	"github.com/weirhq/weir/front/feature/cors"
	"github.com/weirhq/weir/front/feature/edits"
	"github.com/weirhq/weir/front/feature/errorpages"
	"github.com/weirhq/weir/front/feature/files"
	"github.com/weirhq/weir/front/feature/forward"
	"github.com/weirhq/weir/front/feature/forwardauth"
	"github.com/weirhq/weir/front/feature/maintenance"
	"github.com/weirhq/weir/front/feature/mirror"
	"github.com/weirhq/weir/front/feature/redirects"
	"github.com/weirhq/weir/front/feature/respond"
	"github.com/weirhq/weir/front/feature/split"
	"github.com/weirhq/weir/front/stage"
)

// features are the features of routes. They outlive reloads.
type features struct {
	door   stage.Door
	mirror *mirror.Copies

	// stages make the stages of a route, in the order in which requests pass them, and actions
	// its action. They return nil for a route that does not have the feature.
	stages  []func(r *config.Route, all *config.Config, of *stage.Route) (stage.Stage, error)
	actions []func(r *config.Route, of *stage.Route) (stage.Action, error)
}

// newFeatures returns the features of a front door that may have a number of connections to upstreams.
func newFeatures(d stage.Door, connections int) *features {
	f := &features{door: d}
	f.mirror = mirror.NewCopies(&f.door, connections)
	f.stages = []func(*config.Route, *config.Config, *stage.Route) (stage.Stage, error){
		compress.New(&f.door).Stage, // next to the client, so that it gets the response of any other stage
		access.Stage,
		cors.Stage, // before authentication, because preflights have no credentials
		maintenance.Stage,
		basicauth.New().Stage,
		forwardauth.Stage,
		f.mirror.Stage,
		errorpages.Stage,
		edits.Requests, // last, so that the others see the request of the client
	}
	f.actions = []func(*config.Route, *stage.Route) (stage.Action, error){
		files.New(&f.door).Action, respond.Action, redirects.Action, split.Action, forward.Action,
	}
	return f
}

// apply sets what the features of a route do.
func (f *features) apply(r *route, c *config.Route, all *config.Config, of *stage.Route) error {
	for _, stageOf := range f.stages {
		s, err := stageOf(c, all, of)
		if err != nil {
			return fmt.Errorf("route %s: %w", c.Match, err)
		}
		if policy, ok := s.(*cors.Policy); ok {
			r.cors = policy
		}
		if s != nil {
			r.stages = append(r.stages, s)
		}
	}
	var err error
	for i := 0; r.action == nil && err == nil; i++ {
		r.action, err = f.actions[i](c, of)
	}
	if err == nil {
		r.responses, err = edits.Responses(c)
	}
	if err != nil {
		return fmt.Errorf("route %s: %w", c.Match, err)
	}
	r.pages, r.maintenance = errorpages.Of(c, all), maintenance.Of(c, all)
	return nil
}
