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
	"github.com/weirhq/weir/front/feature/rewrite"
	"github.com/weirhq/weir/front/feature/split"
	"github.com/weirhq/weir/front/internal/template"
	"github.com/weirhq/weir/front/stage"
)

// features are the features of routes. They outlive reloads.
type features struct {
	door   stage.Door
	mirror *mirror.Copies

	compress  *compress.Feature
	basicAuth *basicauth.Feature
	files     *files.Feature
}

// newFeatures returns the features of a front door that may have a number of connections to upstreams.
func newFeatures(d stage.Door, connections int) *features {
	f := &features{door: d, basicAuth: basicauth.New()}
	f.mirror, f.compress, f.files = mirror.NewCopies(&f.door, connections), compress.New(&f.door), files.New(&f.door)
	return f
}

// configured is a route from whose configuration its stages and its action are made.
type configured struct {
	*config.Route
	of      *stage.Route
	pattern *template.Pattern

	// Features that act before or after the stages too. Nil for none.
	cors        *cors.Policy
	pages       *errorpages.Pages
	maintenance *maintenance.Response
}

func newConfigured(c *config.Route, of *stage.Route) configured {
	return configured{
		Route: c, of: of, pattern: template.ParsePattern(c.Match), cors: cors.New(c.CORS),
		pages:       errorpages.New(c.ErrorPages),
		maintenance: maintenance.New(c.Maintenance),
	}
}

// stages make the stages of a route, in the order in which requests pass them. They return nil for a
// route that does not have the feature.
var stages = []func(f *features, c configured) (stage.Stage, error){
	func(f *features, c configured) (stage.Stage, error) { // next to the client: it gets the response of any other stage
		return f.compress.Stage(c.Compress, c.ForwardAuth == nil && (c.Files != nil || c.Respond != nil))
	},
	func(_ *features, c configured) (stage.Stage, error) { return access.Stage(c.Access, c.of) },
	func(_ *features, c configured) (stage.Stage, error) { return c.cors.Stage(), nil }, // preflights have no credentials
	func(_ *features, c configured) (stage.Stage, error) { return c.maintenance.Stage(), nil },
	func(f *features, c configured) (stage.Stage, error) { return f.basicAuth.Stage(c.BasicAuth, c.of) },
	func(_ *features, c configured) (stage.Stage, error) { return forwardauth.Stage(c.ForwardAuth, c.of) },
	func(f *features, c configured) (stage.Stage, error) { return f.mirror.Stage(c.Mirror, c.of) },
	func(_ *features, c configured) (stage.Stage, error) { return c.pages.Stage(), nil },
	// The others see the request of the client.
	func(_ *features, c configured) (stage.Stage, error) { return rewrite.Stage(c.Rewrite, c.pattern) },
	func(_ *features, c configured) (stage.Stage, error) {
		return edits.Requests(c.RequestHeaders, c.pattern)
	},
}

// actions make the action of a route. The last one forwards to an upstream.
var actions = []func(f *features, c configured) (stage.Action, error){
	func(f *features, c configured) (stage.Action, error) { return f.files.Action(c.Files, c.of) },
	func(_ *features, c configured) (stage.Action, error) { return respond.Action(c.Respond) },
	func(_ *features, c configured) (stage.Action, error) { return redirects.Action(c.Redirect, c.pattern) },
	func(_ *features, c configured) (stage.Action, error) {
		return split.Action(c.Split, c.StickySplit, c.of)
	},
	func(_ *features, c configured) (stage.Action, error) { return forward.Action(c.To, c.of) },
}

// apply sets the stages and the action of a route.
func (f *features) apply(r *route, c configured) error {
	for _, stageOf := range stages {
		s, err := stageOf(f, c)
		if err != nil {
			return fmt.Errorf("route %s: %w", c.Match, err)
		}
		if s != nil {
			r.stages = append(r.stages, s)
		}
	}
	r.stages = append(r.stages, c.Stages...)
	var err error
	for i := 0; r.action == nil && err == nil; i++ {
		r.action, err = actions[i](f, c)
	}
	if err == nil {
		r.responses, err = edits.Responses(c.ResponseHeaders, c.pattern)
	}
	if err != nil {
		return fmt.Errorf("route %s: %w", c.Match, err)
	}
	return nil
}
