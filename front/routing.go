package front

import (
	"slices"
	"strconv"
	"strings"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/stage"
	"github.com/weirhq/weir/router"
)

// findRoute sets x.found to the route of a request. x.route is set later, when the rate
// limit of all requests has let the request pass.
func findRoute(x *exchange, t *tables) {
	if t.cors && x.Method == "OPTIONS" && x.findPreflight(t) {
		return
	}
	if x.found, x.allow = t.find(x.Exchange, x.Method, x.Path, &x.Params); x.found != nil {
		x.events = x.found.events
	} else {
		x.allow = t.working(x.Exchange, x.allow)
	}
}

// findPreflight sets x.found to the route of the request that a preflight announces, if the
// route has CORS, and reports whether it does.
func (x *exchange) findPreflight(t *tables) bool {
	method := stage.Only(x.Header, "Access-Control-Request-Method")
	if method == "" || stage.Only(x.Header, "Origin") == "" {
		return false
	}
	if r, _ := t.find(x.Exchange, method, x.Path, &x.Params); r != nil && r.cors != nil {
		x.found, x.events, x.Preflight = r, r.events, true
	}
	return x.Preflight
}

// find returns the route of a request if it had the given method and path: that of the most
// specific pattern with a route whose conditions hold. Otherwise it returns nil and the methods
// of the other patterns for the path; working leaves out those whose conditions fail.
func (t *tables) find(x *stage.Exchange, method, path string, params *router.Params) (r *route, allow string) {
	e, allow := t.routes.Lookup(method, x.Hostname, "", path, params)
	for e != nil {
		r := e.Value
		if r.when != nil {
			r = r.chosen(x)
		}
		if r != nil {
			return r, ""
		}
		e, allow = t.routes.Next(method, x.Hostname, "", path, params)
	}
	return nil, allow
}

// working returns the methods of a list, as in an Allow field, with which the request would have
// a route. It looks the request up for each of them, which only a request without a route pays for.
func (t *tables) working(x *stage.Exchange, allow string) string {
	if allow == "" || !t.conditions {
		return allow
	}
	methods := slices.DeleteFunc(strings.Split(allow, ", "), func(method string) bool {
		r, _ := t.find(x, method, x.Path, &x.Params)
		return r == nil
	})
	return strings.Join(methods, ", ")
}

// chosen returns the first route of a pattern whose conditions hold, or nil.
func (r *route) chosen(x *stage.Exchange) *route {
	for ; r != nil; r = r.next {
		if r.when == nil || r.when.Hold(x) {
			return r
		}
	}
	return nil
}

// exceptsPlain reports whether the route of a request serves plain http.
func (x *exchange) exceptsPlain() bool { return x.found != nil && x.found.plainHTTP }

// A routeList collects the entries of a routing table. Routes with the same pattern have
// one entry: those with conditions, in their order, and then the one without.
type routeList struct {
	entries []router.Entry[*route]
	indexes map[string]int  // of the entries, by pattern
	labels  map[string]bool // that are in use
}

func newRouteList(n int) *routeList {
	return &routeList{entries: make([]router.Entry[*route], 0, n), indexes: make(map[string]int, n),
		labels: make(map[string]bool, n)}
}

// label returns the name of a route in the log and in the metrics: its pattern and the
// names in its conditions, with a number if another route has them too.
func (l *routeList) label(r *config.Route) string {
	label := r.Match
	if !r.When.None() {
		label += " when " + r.When.Names()
	}
	unique := label
	for n := 2; l.labels[unique] && !r.When.None(); n++ {
		unique = label + " #" + strconv.Itoa(n)
	}
	l.labels[unique] = true
	return unique
}

// add adds a route. Two routes with the same pattern and no conditions become two
// entries, which the table refuses.
func (l *routeList) add(pattern string, r *route) {
	i, found := l.indexes[pattern]
	if !found {
		l.indexes[pattern] = len(l.entries)
	}
	if !found || r.when == nil && l.entries[i].Value.last().when == nil {
		l.entries = append(l.entries, router.Entry[*route]{Pattern: pattern, Value: r})
		return
	}
	at := &l.entries[i].Value
	for *at != nil && ((*at).when != nil || r.when == nil) {
		at = &(*at).next
	}
	r.next, *at = *at, r
}

// last returns the last route with the pattern of r.
func (r *route) last() *route {
	for r.next != nil {
		r = r.next
	}
	return r
}
