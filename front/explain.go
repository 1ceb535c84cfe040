package front

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/stage"
)

// An Explanation is the decision of a front door about a request.
type Explanation struct {
	Request string `json:"request"` // its method, host and target

	// Status and Reason belong to a response that the front door makes before a route
	// handles the request; Status is 0 if a route is chosen. Allow is its Allow field.
	Status int    `json:"status,omitempty"`
	Reason string `json:"reason,omitempty"`
	Allow  string `json:"allow,omitempty"`

	// Routes are the routes and redirects whose patterns match, in the order in which they
	// are tried. At most one is chosen.
	Routes []ExplainedRoute `json:"routes"`
}

// An ExplainedRoute is a route whose pattern matches a request.
type ExplainedRoute struct {
	config.Position
	Pattern    string               `json:"pattern"`
	Parameters []Parameter          `json:"parameters,omitempty"`
	Conditions []ExplainedCondition `json:"conditions,omitempty"`
	Chosen     bool                 `json:"chosen"`

	// Why says why a route that is not chosen comes after, or that its conditions fail.
	Why string `json:"why,omitempty"`

	// Settings are the keys of the chosen route, and Steps what it does with the request,
	// in order.
	Settings []config.Setting `json:"settings,omitempty"`
	Steps    []string         `json:"steps,omitempty"`
}

// A Parameter is a parameter of a pattern and its value in a request.
type Parameter struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// An ExplainedCondition is a condition of a route and whether it holds.
type ExplainedCondition struct {
	Condition string `json:"condition"` // such as "X-Beta is 1"
	Holds     bool   `json:"holds"`
}

// Explain returns the decision about a request, given as the head of an HTTP/1.1 message with its empty line, over a
// scheme, http or https, from a client. It forwards and logs nothing. The error says why the head is not accepted at
// all.
func (d *Door) Explain(scheme string, head []byte, client netip.Addr) (*Explanation, error) {
	wx, err := d.server.Parse(scheme, head, client)
	if err != nil {
		return nil, err
	}
	x := wx.Context.(*exchange)
	t := d.tables.Load()
	x.Header, x.ID = x.trace.read(x.Header), x.trace.id
	x.ClientAddr = t.trust.Client(x.Peer, x.Header)
	e := explain(x, t)
	if rules := d.rules.Load(); rules != nil {
		e.addClientRule(rules.Demand(x.http.Host), t.subjectField)
	}
	return e, nil
}

// addClientRule adds the rule for certificates of clients to the steps of the chosen route.
func (e *Explanation) addClientRule(demand, subjectField string) {
	i := slices.IndexFunc(e.Routes, func(r ExplainedRoute) bool { return r.Chosen })
	if i < 0 || demand == "" {
		return
	}
	steps := []string{demand}
	if subjectField != "" {
		steps = append(steps, "passes the subject of the certificate in "+subjectField)
	}
	e.Routes[i].Steps = slices.Concat(steps, e.Routes[i].Steps)
}

func explain(x *exchange, t *tables) *Explanation {
	status, why := validate(x)
	e := &Explanation{Request: x.Method + " " + x.Host + x.Target, Status: status, Reason: why, Routes: []ExplainedRoute{}}
	if status != 0 {
		return e
	}
	if x.Target == "*" {
		e.Request = x.Method + " * of " + x.Host
	}
	allow := e.addRoutes(x, t)
	if e.respondEarly(x, t); e.Status != 0 {
		e.Routes = e.Routes[:0]
		return e
	}
	switch {
	case x.found != nil:
	case allow == "":
		e.Status, e.Reason = 404, "no route"
	default:
		e.Status, e.Reason, e.Allow = 405, "no route for the method", withOptions(allow)
		if x.Method == "OPTIONS" {
			e.Status, e.Reason = 204, "the front door responds to OPTIONS"
		}
	}
	return e
}

// addRoutes adds the routes whose patterns match, and sets x.found to the chosen one. Without one, it returns the
// methods with which the request would have a route.
func (e *Explanation) addRoutes(x *exchange, t *tables) (allow string) {
	method := x.Method
	if t.cors && method == "OPTIONS" && x.findPreflight(t) {
		method, x.found = stage.Only(x.Header, "Access-Control-Request-Method"), nil
	}
	found, allow := t.routes.Lookup(method, x.http.Host, "", x.Path, &x.Params)
	for found != nil {
		for r := found.Value; r != nil; r = r.next {
			e.add(x, r, found.Pattern)
		}
		found, allow = t.routes.Next(method, x.http.Host, "", x.Path, &x.Params)
	}
	if x.found == nil {
		allow = t.working(x.Exchange, allow)
	}
	return allow
}

// respondEarly sets the response to a request that does not reach its route. The cases are in the order of the steps of
// a Door, and then of its handle.
func (e *Explanation) respondEarly(x *exchange, t *tables) {
	scheme := t.trust.Scheme(x.Peer, x.Header, x.Scheme)
	plain := t.httpsRedirect != nil && t.httpsRedirect.SetHSTS(x.Exchange, scheme)
	status, why := t.checkSpelling(x)
	switch {
	case plain && x.Target != "*" && !x.exceptsPlain():
		e.Status, e.Reason = 308, "tls.redirect: the request is not over https"
	case status != 0:
		e.Status, e.Reason = status, why
	case x.Method == "TRACE":
		e.Status, e.Reason, e.Allow = 405, "TRACE would reveal the fields that proxies add", methodsOfAll
	case x.Target == "*":
		e.Status, e.Reason, e.Allow = 204, "a request for the server as a whole", methodsOfAll
	case t.access != nil && !t.access.Admits(x.ClientAddr):
		e.Status, e.Reason = 403, "access: the network of the client is denied, or not allowed"
	}
}

// add adds a route whose pattern matches.
func (e *Explanation) add(x *exchange, r *route, pattern string) {
	one := ExplainedRoute{Position: r.position, Pattern: pattern}
	for i := range x.Params.Len() {
		name, value := x.Params.At(i)
		one.Parameters = append(one.Parameters, Parameter{name, value})
	}
	if r.when != nil {
		r.when.Explain(x.Exchange, func(condition string, holds bool) {
			one.Conditions = append(one.Conditions, ExplainedCondition{condition, holds})
		})
	}
	switch {
	case r.when != nil && !r.when.Hold(x.Exchange):
		one.Why = "a condition does not hold"
	case x.found == nil:
		x.found = r
		one.Chosen, one.Settings, one.Steps = true, r.settings, r.explain(x.Exchange)
	default:
		one.Why = whyAfter(e.chosen(), pattern)
	}
	e.Routes = append(e.Routes, one)
}

// chosen returns the pattern of the chosen route.
func (e *Explanation) chosen() string {
	i := slices.IndexFunc(e.Routes, func(r ExplainedRoute) bool { return r.Chosen })
	return e.Routes[i].Pattern
}

// whyAfter returns why a pattern comes after the chosen one, which matches the same
// request.
func whyAfter(chosen, pattern string) string {
	if chosen == pattern {
		return "comes after the chosen route with the same pattern"
	}
	chosenMethods, chosenHost, chosenPath := splitPattern(chosen)
	methods, host, path := splitPattern(pattern)
	switch {
	case host == "" && chosenHost != "":
		return "less specific: it has no host"
	case isWildcardHost(host) && !isWildcardHost(chosenHost):
		return "less specific: its host has a wildcard"
	case host != chosenHost && isWildcardHost(host):
		return "less specific: the wildcard of its host is wider"
	}
	a, b := strings.Split(chosenPath, "/")[1:], strings.Split(path, "/")[1:]
	for i := range min(len(a), len(b)) {
		if kindOf(a[i]) != kindOf(b[i]) {
			return fmt.Sprintf("less specific: %s instead of %s in segment %d", segment(b[i]), segment(a[i]), i+1)
		}
	}
	if chosenMethods != "" && methods == "" {
		return "less specific: it has no method"
	}
	return "less specific"
}

// splitPattern returns the parts of a valid pattern.
func splitPattern(pattern string) (methods, host, path string) {
	if m, rest, found := strings.Cut(pattern, " "); found {
		methods, pattern = m, strings.TrimLeft(rest, " ")
	}
	slash := strings.IndexByte(pattern, '/')
	return methods, pattern[:slash], pattern[slash:]
}

func isWildcardHost(host string) bool {
	return strings.HasPrefix(host, "*") || strings.HasPrefix(host, "{")
}

// kindOf returns a segment without the names in it, so that equal kinds have the same
// precedence.
func kindOf(segment string) string {
	before, inside, found := strings.Cut(segment, "{")
	if !found || segment == "{$}" {
		return segment
	}
	name, after, _ := strings.Cut(inside, "}")
	constraint := name[len(strings.TrimRight(name, ".")):]
	if i := strings.IndexByte(name, ':'); i >= 0 {
		constraint = name[i:]
	}
	return before + "{" + constraint + "}" + after
}

// segment returns a segment for messages.
func segment(s string) string {
	if s == "" {
		return "the rest of the path"
	}
	return s
}
