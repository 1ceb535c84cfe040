package front_test

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// A modelRequest is a request to a random file.
type modelRequest struct {
	method, host, path, query, client string
	header                            map[string]string
	body                              int
}

// A modelResponse is what is compared: the status, some fields, and the decoded body.
type modelResponse struct {
	status int
	fields map[string]string
	body   string
}

// comparedFields are the fields that are compared. An upstream sets X-From to its name, and X-Saw to the request.
var comparedFields = []string{"X-A", "X-B", "X-C", "X-Up-1", "X-Up-2", "X-From", "X-Saw", "Location", "Retry-After",
	"Allow", "Www-Authenticate", "Access-Control-Allow-Origin", "Content-Encoding", "Cache-Control"}

// clientFields are fields of all requests, which an upstream gets unless the file changes them.
var clientFields = map[string]string{"X-A": "client", "X-Up-1": "client", "X-User": "mallory", "X-Who": "mallory"}

const (
	redirectedPath = "/moved"
	upstreamBody   = "This is the body of an upstream, which is long enough for compression."
	fileBody       = "This is a file, which is longer than the body of an upstream; but it is not long enough for all of the limits."
)

// matches reports whether the pattern and the conditions of a route match a request, apart from the method, and the
// parameter id.
func (p *modelPlace) matches(q *modelRequest) (id string, ok bool) {
	if hosts := p.allHosts(); hosts != nil && !slices.Contains(hosts, q.host) {
		return "", false
	}
	for _, name := range []string{"X-Beta", "X-Gamma"} {
		value, present := q.header[name]
		if want := p.value("when", "headers", name); want == true && !present || want == "1" && value != "1" {
			return "", false
		}
	}
	pattern := p.wholePrefix() + p.match[strings.IndexByte(p.match, '/'):]
	base, wildcard, _ := strings.Cut(pattern, "{")
	if wildcard == "" {
		return "", q.path == pattern
	}
	id, ok = strings.CutPrefix(q.path, base)
	if wildcard == "id}" {
		ok = ok && id != "" && !strings.Contains(id, "/")
	}
	return id, ok
}

// allows reports whether a route is for a method.
func (p *modelPlace) allows(method string) bool {
	methods, _, any := strings.Cut(p.match, " ")
	all := strings.Split(methods, ",")
	return !any || slices.Contains(all, method) || method == "HEAD" && slices.Contains(all, "GET")
}

// findFor returns the route of a request with another method, or whether a line of the file of redirects gets it.
func (c *combination) findFor(method string, q *modelRequest) (route *modelPlace, redirected bool) {
	best := -1
	for _, p := range c.routes {
		if _, ok := p.matches(q); !ok || !p.allows(method) {
			continue
		}
		rank := 0
		if p.allHosts() != nil {
			rank = 2
		}
		if !strings.HasSuffix(p.match, " /{id...}") && p.match != "/{id...}" {
			rank++
		}
		if rank > best {
			best, route = rank, p
		}
	}
	if best < 1 && q.path == redirectedPath {
		return nil, true
	}
	return route, false
}

// find returns the route of a request, and whether the request is a preflight of CORS to it.
func (c *combination) find(q *modelRequest) (route *modelPlace, redirected, preflight bool) {
	if method := q.header["Access-Control-Request-Method"]; q.method == "OPTIONS" && method != "" {
		if p, _ := c.findFor(method, q); p != nil && p.value("cors") != nil {
			return p, false, true
		}
	}
	route, redirected = c.findFor(q.method, q)
	return route, redirected, false
}

// respond returns the response to a request, and counts it in the rates.
func (c *combination) respond(q *modelRequest) modelResponse {
	route, redirected, preflight := c.find(q)
	r := modelResponse{fields: map[string]string{}}
	if route != nil {
		if allowed := route.text("cors", "origins"); allowed == "*" || allowed != "" && allowed == q.header["Origin"] {
			r.fields["Access-Control-Allow-Origin"] = allowed
		}
	}
	c.counted++
	switch {
	case !c.defaults.admits(q.client):
		c.counted-- // the rate does not count it
		return r.fail(c.defaults, 403)
	case c.burst > 0 && c.counted > c.burst:
		r.fields["Retry-After"] = "soon"
		return r.fail(c.defaults, 429)
	}
	if route == nil {
		r = c.respondWithoutRoute(r, q, redirected)
		r.edit(c.defaults, q)
		return r
	}
	r = route.respond(r, q, preflight)
	r.edit(route, q)
	return r
}

// respondWithoutRoute returns the response to a request that has no route.
func (c *combination) respondWithoutRoute(r modelResponse, q *modelRequest, redirected bool) modelResponse {
	if redirected {
		return r.redirect(301, "https://new.example/"+q.suffix())
	}
	var allow []string
	for _, method := range strings.Split("DELETE,GET,HEAD,OPTIONS,POST", ",") {
		if p, _ := c.findFor(method, q); p != nil {
			allow = append(allow, method)
		}
	}
	if allow == nil {
		return r.fail(c.defaults, 404)
	}
	if !slices.Contains(allow, "OPTIONS") {
		allow = append(allow, "OPTIONS")
		slices.Sort(allow)
	}
	r.fields["Allow"] = strings.Join(allow, ", ")
	if q.method == "OPTIONS" {
		r.status = 204
		return r
	}
	return r.fail(c.defaults, 405)
}

// respond returns the response of a route without the changes of response_headers.
func (p *modelPlace) respond(r modelResponse, q *modelRequest, preflight bool) modelResponse {
	if limit := p.text("limits", "body"); limit != "" {
		if most, _ := strconv.Atoi(strings.TrimSuffix(limit, "B")); q.body > most {
			return r.fail(p, 413)
		}
	}
	for _, place := range p.chain() {
		if !place.count() {
			r.fields["Retry-After"] = "soon"
			return r.fail(p, 429)
		}
	}
	return p.compress(p.inStages(r, q, preflight), q)
}

// inStages returns the response of the stages of a route or of its action.
func (p *modelPlace) inStages(r modelResponse, q *modelRequest, preflight bool) modelResponse {
	for _, place := range p.chain() {
		if place.kind != "defaults" && !place.admits(q.client) {
			return r.fail(p, 403)
		}
	}
	if preflight {
		r.status = 204
		return r
	}
	if p.value("maintenance", "active") == true {
		if seconds := p.text("maintenance", "retry_after"); seconds != "" {
			r.fields["Retry-After"] = strings.TrimSuffix(seconds, "s")
		}
		return r.fail(p, 503)
	}
	if p.value("basic_auth") != nil && q.header["Authorization"] == "" {
		r.fields["Www-Authenticate"] = p.text("basic_auth", "realm")
		return r.fail(p, 401)
	}
	if p.value("forward_auth") != nil && q.header["X-Token"] == "" {
		r.status, r.body = 403, "denied"
		return r
	}
	status, _ := strconv.Atoi(p.ofAction("status"))
	switch actions[p.does()].kind {
	case "respond":
		if r = r.fail(p, status); p.ofAction("text") != "" || p.page(status) == "" {
			r.body = p.ofAction("text")
		}
	case "redirect":
		return r.redirect(cmp.Or(status, 307), p.ofAction("to")+q.suffix())
	case "files":
		return p.file(r, q)
	default:
		return p.forward(r, q)
	}
	return r
}

// file returns the response of files.
func (p *modelPlace) file(r modelResponse, q *modelRequest) modelResponse {
	name, _ := p.matches(q)
	switch {
	case q.method == "OPTIONS":
		r.status, r.fields["Allow"] = 204, "GET, HEAD, OPTIONS"
		return r
	case q.method != "GET" && q.method != "HEAD":
		r.fields["Allow"] = "GET, HEAD, OPTIONS"
		return r.fail(p, 405)
	case strings.HasSuffix(p.match, "/{id...}") && name == "f.txt":
		r.status, r.body = 200, fileBody
		if cached := p.ofAction("cache_control"); cached != "" {
			r.fields["Cache-Control"] = cached
		}
		return r
	}
	return r.fail(p, 404)
}

// forward returns the response of an upstream.
func (p *modelPlace) forward(r modelResponse, q *modelRequest) modelResponse {
	path := q.path
	if rewrite := p.text("rewrite"); rewrite != "" {
		id, _ := p.matches(q)
		path = strings.ReplaceAll(rewrite, "{id}", id)
	}
	path = p.text("add_prefix") + strings.TrimPrefix(path, p.text("strip_prefix"))
	sent := http.Header{}
	for name, value := range clientFields {
		sent.Set(name, value)
	}
	if q.header["Authorization"] != "" && p.value("basic_auth") == nil {
		sent.Set("Authorization", q.header["Authorization"])
	}
	if name := p.text("basic_auth", "user_header"); name != "" {
		sent.Set(name, "alice")
	}
	if p.value("forward_auth") != nil {
		sent.Set("X-Who", "bob")
	}
	p.editFields(sent, "request_headers", q)
	r.fields["X-From"] = strings.TrimPrefix(p.does(), "to ")
	r.fields["X-Saw"] = sawOf(q.method, path+q.suffix(), q.host, sent)
	r.fields["X-Up-1"], r.fields["X-Up-2"] = "up", "up"
	r.status, r.body = 200, upstreamBody
	if q.query == "status=404" {
		r.status = 404
		if page := p.page(404); page != "" && p.value("error_pages", "intercept") == true {
			r.body = page
		}
	}
	return r
}

// sawOf describes a request that an upstream receives.
func sawOf(method, target, host string, h http.Header) string {
	saw := method + " " + target + " " + host
	for _, name := range []string{"X-A", "X-B", "X-C", "X-Up-1", "X-Up-2", "X-User", "X-Who", "Authorization"} {
		saw += "|" + strings.Join(h.Values(name), ",")
	}
	return saw
}

// editFields changes fields as one of the keys request_headers and response_headers of a place does.
func (p *modelPlace) editFields(h http.Header, key string, q *modelRequest) {
	if names, ok := p.value(key, "remove").([]string); ok {
		for _, name := range names {
			h.Del(name)
		}
	}
	for _, name := range []string{"X-A", "X-B"} {
		if value := p.text(key, "set", name); value != "" {
			h.Set(name, strings.ReplaceAll(value, "{client.address}", q.client))
		}
	}
	if values, ok := p.value(key, "add", "X-C").([]string); ok {
		h["X-C"] = append(h["X-C"], values...)
	}
}

// edit changes the response as response_headers does.
func (r *modelResponse) edit(p *modelPlace, q *modelRequest) {
	h := http.Header{}
	for name, value := range r.fields {
		h.Set(name, value)
	}
	p.editFields(h, "response_headers", q)
	r.fields = map[string]string{}
	for name, values := range h {
		r.fields[name] = strings.Join(values, ",")
	}
}

// page returns the content of the page of an error, or "".
func (p *modelPlace) page(status int) string {
	name := p.text("error_pages", strconv.Itoa(status))
	if name == "" {
		name = p.text("error_pages", strconv.Itoa(status/100)+"xx")
	}
	if name == "" {
		return ""
	}
	return errorPageText(name)
}

// statusLine is the body of a response with a status and without a page.
func statusLine(status int) string {
	if status == 413 {
		return "413 Content Too Large\n" // package http has the name of RFC 7231
	}
	return fmt.Sprintf("%d %s\n", status, http.StatusText(status))
}

func errorPageText(name string) string { return "<p>The page " + name }

// fail returns the response of an error.
func (r modelResponse) fail(p *modelPlace, status int) modelResponse {
	r.status, r.body = status, p.page(status)
	if r.body == "" {
		r.body = statusLine(status)
	}
	return r
}

// redirect returns a redirect.
func (r modelResponse) redirect(status int, to string) modelResponse {
	r.status, r.body = status, statusLine(status)
	r.fields["Location"] = to
	return r
}

// compress sets Content-Encoding.
func (p *modelPlace) compress(r modelResponse, q *modelRequest) modelResponse {
	if p.value("compress") == nil || r.body == "" || q.header["Accept-Encoding"] == "" {
		return r
	}
	least := map[string]int{"": 1024, "1B": 1, "250B": 250, "4KiB": 4096}[p.text("compress", "min_length")]
	kind := actions[p.does()].kind
	safe := p.value("forward_auth") == nil && (kind == "files" || kind == "respond")
	if len(r.body) >= least && (safe || q.header["Authorization"] == "") {
		r.fields["Content-Encoding"] = "gzip"
	}
	return r
}

// suffix returns the query with its question mark.
func (q *modelRequest) suffix() string {
	if q.query == "" {
		return ""
	}
	return "?" + q.query
}
