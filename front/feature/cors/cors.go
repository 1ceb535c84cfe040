// Package cors lets pages of other origins read the responses of a route: the key cors.
package cors

import (
	"strconv"
	"strings"
	"time"

	"github.com/weirhq/weir/front/stage"
)

// A Policy allows pages of other origins to read the responses of a route (CORS, as the
// Fetch standard defines it). As a stage, it responds to preflights.
type Policy struct {
	all     bool // origins are allowed, and any page gets the same response
	origins map[string]bool
	under   []originsUnder

	response     []stage.Field // of every response to an allowed origin, besides the origin
	preflight    []stage.Field // in addition, of a response to a preflight
	echoHeaders  bool          // a preflight may ask for any fields
	varyOnOrigin []stage.Field // of every response; nil if it is the same for all origins
}

// originsUnder are the origins of all hosts below a domain.
type originsUnder struct {
	scheme string // with "://"
	suffix string // "." and the domain, with the port if there is one
}

// corsFields are the names of the response fields that only the route sets. If those of the
// upstream passed, it could allow more than the route.
var corsFields = []string{"Access-Control-Allow-Origin", "Access-Control-Allow-Credentials",
	"Access-Control-Expose-Headers", "Access-Control-Allow-Methods", "Access-Control-Allow-Headers",
	"Access-Control-Max-Age"}

var (
	varyOnOrigin    = []stage.Field{{Name: "Vary", Value: "Origin"}}
	varyOnPreflight = stage.Field{Name: "Vary", Value: "Access-Control-Request-Method, Access-Control-Request-Headers"}
)

// New returns the policy of a route, or nil without a configuration.
func New(c *Config) *Policy {
	if c == nil {
		return nil
	}
	o := &Policy{origins: make(map[string]bool)}
	for _, origin := range c.Origins {
		if scheme, domain, ok := strings.Cut(origin, "*."); ok {
			o.under = append(o.under, originsUnder{scheme, "." + domain})
			continue
		}
		o.origins[origin] = true
	}
	if o.all = o.origins["*"]; !o.all {
		o.varyOnOrigin = varyOnOrigin
	}
	if c.Credentials {
		o.response = append(o.response, stage.Field{Name: "Access-Control-Allow-Credentials", Value: "true"})
	}
	if len(c.ExposeHeaders) > 0 {
		o.response = append(o.response, stage.Field{Name: "Access-Control-Expose-Headers", Value: strings.Join(c.ExposeHeaders, ", ")})
	}
	o.preflight = []stage.Field{{Name: "Access-Control-Allow-Methods", Value: strings.Join(c.AllowMethods, ", ")}}
	switch {
	case len(c.AllowHeaders) == 0:
	case c.AllowHeaders[0] == "*":
		o.echoHeaders = true
	default:
		o.preflight = append(o.preflight,
			stage.Field{Name: "Access-Control-Allow-Headers", Value: strings.Join(c.AllowHeaders, ", ")})
	}
	if c.MaxAge > 0 {
		o.preflight = append(o.preflight,
			stage.Field{Name: "Access-Control-Max-Age", Value: strconv.FormatInt(int64(c.MaxAge/time.Second), 10)})
	}
	return o
}

// Stage returns the stage of a route, or nil without a policy.
func (o *Policy) Stage() stage.Stage {
	if o == nil {
		return nil
	}
	return o
}

// SetFields sets the fields of the response, whichever part of the front door makes it.
func (o *Policy) SetFields(x *stage.Exchange) {
	x.ResponseRemove = stage.JoinNames(x.ResponseRemove, corsFields)
	x.ResponseAdd = append(x.ResponseAdd, o.varyOnOrigin...)
	if x.Preflight {
		x.ResponseAdd = append(x.ResponseAdd, varyOnPreflight)
	}
	origin := stage.Only(x.Header, "Origin")
	switch {
	case o.all: // without an Origin, too: a cache may keep the response for all origins
		origin = "*"
	case !o.allows(origin):
		return
	}
	x.Response = append(append(x.Response, stage.Field{Name: "Access-Control-Allow-Origin", Value: origin}), o.response...)
	if !x.Preflight {
		return
	}
	x.Response = append(x.Response, o.preflight...)
	if names := stage.Only(x.Header, "Access-Control-Request-Headers"); o.echoHeaders && names != "" {
		x.Response = append(x.Response, stage.Field{Name: "Access-Control-Allow-Headers", Value: names})
	}
}

// allows reports whether a page of the origin may read responses.
func (o *Policy) allows(origin string) bool {
	switch {
	case origin == "":
		return false
	case o.all || o.origins[origin]:
		return true
	}
	for _, u := range o.under {
		host, ok := strings.CutPrefix(origin, u.scheme)
		labels, under := strings.CutSuffix(host, u.suffix)
		if ok && under && labels != "" && !strings.ContainsAny(labels, "/:@?#") {
			return true
		}
	}
	return false
}

// Apply implements stage.Stage. Authentication follows it, because preflights have no credentials.
func (o *Policy) Apply(x *stage.Exchange) (responded bool) {
	if x.Preflight {
		x.RespondWith(204, nil, "")
	}
	return x.Preflight
}

// Explain implements stage.Explainer.
func (o *Policy) Explain(x *stage.Exchange) (steps []string, ends bool) {
	if x.Preflight {
		return []string{"responds to the preflight of CORS"}, true
	}
	return nil, false
}
