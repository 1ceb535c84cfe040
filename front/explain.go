package front

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/weirhq/weir/front/config"
)

// An Explanation is the decision of a front door about a request.
type Explanation struct {
	Request string `json:"request"` // its method, host and target

	// Status and Reason are those of a response that the front door makes itself because
	// there is no route; Status is 0 if there is one. Allow is its Allow field.
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

// An explainer is a stage or an action that describes itself. Each line is a sentence
// without a subject, such as "forwards to the upstream site".
type explainer interface {
	explain(x *exchange) []string
}

// Explain returns the decision about a request, given as the head of an HTTP/1.1 message
// with its empty line, from a client. It forwards and logs nothing. The error says why the
// head is not accepted at all.
func (d *Door) Explain(head []byte, client netip.Addr) (*Explanation, error) {
	c := &clientConn{server: d.server, peer: client, in: takeInput(d.server.limits().Headers)}
	c.seen = true
	c.in.add(head)
	defer c.in.release()
	switch step, err := c.next(); step {
	case badHead:
		return nil, fmt.Errorf("the front door would respond with %d: %s", err.Status, err.Reason)
	case completeHead:
	default:
		return nil, errors.New("the head is not complete")
	}
	c.in.parser.Head.Continue = false // there is no connection to wait on
	x := new(http1Exchange)
	x.Context = &x.exchange
	x.fill(c)
	t := d.tables.Load()
	x.Header = x.trace.read(x.Header)
	x.client = t.trust.Client(x.Peer, x.Header)
	return explain(&x.exchange, t), nil
}

func explain(x *exchange, t *tables) *Explanation {
	status, why := validate(x)
	e := &Explanation{Request: x.Method + " " + x.Host + x.Target, Status: status, Reason: why, Routes: []ExplainedRoute{}}
	if status != 0 {
		return e
	}
	method := x.Method
	if t.cors && method == "OPTIONS" && x.findPreflight(t) {
		method, x.found = onlyField(x.Header, "Access-Control-Request-Method"), nil
	}
	found, allow := t.routes.Lookup(method, x.http.Host, "", x.path, &x.params)
	for found != nil {
		for r := found.Value; r != nil; r = r.next {
			e.add(x, r, found.Pattern)
		}
		found, allow = t.routes.Next(method, x.http.Host, "", x.path, &x.params)
	}
	switch {
	case x.found != nil:
	case x.Target == "*":
		e.Status, e.Reason, e.Allow = 204, "a request for the server as a whole", methodsOfAll
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

// add adds a route whose pattern matches.
func (e *Explanation) add(x *exchange, r *route, pattern string) {
	one := ExplainedRoute{Position: r.position, Pattern: pattern}
	for i := range x.params.Len() {
		name, value := x.params.At(i)
		one.Parameters = append(one.Parameters, Parameter{name, value})
	}
	fails := ""
	if r.when != nil {
		one.Conditions, fails = explainConditions(x, r.when)
	}
	switch {
	case fails != "":
		one.Why = "does not hold: " + fails
	case x.found == nil:
		x.found = r
		one.Chosen, one.Settings, one.Steps = true, r.settings, r.explain(x)
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

// explain returns what the stages and the action do.
func (r *route) explain(x *exchange) (steps []string) {
	for _, s := range r.stages {
		if s, ok := s.(explainer); ok {
			steps = append(steps, s.explain(x)...)
		}
	}
	if a, ok := r.action.(explainer); ok {
		steps = append(steps, a.explain(x)...)
	}
	if responses, ok := r.responses.(explainer); ok {
		steps = append(steps, responses.explain(x)...)
	}
	return steps
}

// explainConditions returns the conditions, and those that fail.
func explainConditions(x *exchange, when *config.Conditions) (all []ExplainedCondition, fails string) {
	var failed []string
	add := func(c *config.Condition, name string, holds bool) {
		text := name + map[config.Test]string{
			config.HasValue: fmt.Sprintf(" is %q", c.Value), config.IsPresent: " is present", config.IsAbsent: " is absent",
		}[c.Test]
		if !holds {
			failed = append(failed, text)
		}
		all = append(all, ExplainedCondition{text, holds})
	}
	for i := range when.Headers {
		c := &when.Headers[i]
		add(c, c.Name, x.meetsHeader(c))
	}
	x.readQuery()
	for i := range when.Query {
		c := &when.Query[i]
		add(c, "?"+c.Name, x.meetsQuery(c))
	}
	for i := range when.Cookies {
		c := &when.Cookies[i]
		add(c, "cookie "+c.Name, x.meetsCookie(c))
	}
	return all, strings.Join(failed, ", ")
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

func (f *forwardTo) explain(*exchange) []string {
	return []string{"forwards to the " + f.to.describe()}
}

// describe returns the name of the upstream and its servers.
func (u *upstream) describe() string {
	servers := u.proxy.Upstream.Servers()
	urls := make([]string, len(servers))
	for i, s := range servers {
		urls[i] = s.URL()
	}
	text := "upstream " + u.name + ": " + strings.Join(urls, ", ")
	if len(urls) > 1 {
		text += " in turn"
	}
	return text
}

func (s *split) explain(x *exchange) (steps []string) {
	if chosen := s.byCondition(x); chosen != nil {
		return []string{"forwards, because of " + chosen.when.Names() + ", to the " + chosen.to.describe()}
	}
	if s.cookie != "" {
		if chosen := s.byCookie(x.Header); chosen != nil {
			return []string{"forwards, because of the cookie " + s.cookie + ", to the " + chosen.to.describe()}
		}
	}
	last := uint64(0)
	for _, share := range s.shares {
		percent := float64(share.upTo-last) / float64(s.total) * 100
		last = share.upTo
		if percent > 0 {
			steps = append(steps, fmt.Sprintf("forwards %.4g %% of the requests to the %s", percent, share.to.describe()))
		}
	}
	if s.cookie != "" {
		steps = append(steps, "sets the cookie "+s.cookie+", which keeps the client at its upstream")
	}
	return steps
}

func (m *mirror) explain(*exchange) []string {
	percent := float64(m.share) / config.MirrorAll * 100
	return []string{fmt.Sprintf("sends copies of %.4g %% of the requests to the %s", percent, m.to.describe())}
}

func (r redirectTo) explain(x *exchange) []string {
	v := x.values()
	location, err := r.target.AppendLocation(nil, &v)
	if err != nil {
		return []string{"responds with 414: the address of the redirect would be too long"}
	}
	return []string{fmt.Sprintf("redirects with %d to %s", r.target.Status, location)}
}

func (f *fixedResponse) explain(*exchange) []string {
	return []string{fmt.Sprintf("responds with %d and a body of %d bytes", f.status, len(f.text))}
}

func (s *serveFiles) explain(x *exchange) []string {
	name, refused := s.name(x)
	if refused != "" {
		return []string{"responds with 404: " + refused}
	}
	return []string{fmt.Sprintf("serves %q in the folder %s", name.Path, s.site.Folder)}
}

func (r *accessRule) explain(x *exchange) []string {
	if r.admits(x.client) {
		return []string{fmt.Sprintf("admits the client %s", x.client)}
	}
	return []string{fmt.Sprintf("refuses the client %s with 403", x.client)}
}

func (o *crossOrigin) explain(x *exchange) []string {
	if x.preflight {
		return []string{"responds to the preflight of CORS"}
	}
	return nil
}

func (e *requestEdits) explain(x *exchange) (steps []string) {
	v := x.values()
	if e.rewrite != nil {
		target, status, why := e.rewrite.Append(nil, &v, x.Target[len(x.path):])
		if status != 0 {
			return []string{fmt.Sprintf("responds with %d: %s", status, why)}
		}
		steps = append(steps, "changes the target to "+string(target))
	}
	if e.host != nil {
		host, _ := e.host.Append(nil, &v)
		steps = append(steps, "changes the host to "+string(host))
	}
	return append(steps, e.fields.explain(x, "request")...)
}

func (e *responseEdits) explain(x *exchange) []string { return (*fieldEdits)(e).explain(x, "response") }

// explain returns the edits of a message.
func (e *fieldEdits) explain(x *exchange, message string) (steps []string) {
	v := x.values()
	set, add, err := e.appendTo(x, &v, nil, nil)
	if err != nil {
		return []string{"responds with 414: a header field of the " + message + " would be too long"}
	}
	for _, name := range e.remove {
		steps = append(steps, "removes "+name+" from the "+message)
	}
	for _, f := range set {
		steps = append(steps, "sets "+f.Name+" of the "+message+" to "+f.Value)
	}
	for _, f := range add {
		steps = append(steps, "adds "+f.Name+": "+f.Value+" to the "+message)
	}
	return steps
}
