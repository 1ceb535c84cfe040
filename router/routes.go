package router

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
)

// Routes register handlers at a place of a [Router]: below a prefix, with middleware,
// for a media type. Methods return new Routes and do not change their receiver, so
// goroutines may share it. The first Routes is the Router's; Routes without a Router
// are never served.
type Routes struct {
	registry   atomic.Pointer[registry] // the Router's; nil in an unused Router
	host, path string                   // prefixes of the patterns
	middleware []func(http.Handler) http.Handler
	accept     *mediaType
	name       string
}

// registryOf returns the registry. The first call makes it.
func (v *Routes) registryOf() *registry {
	if g := v.registry.Load(); g != nil {
		return g
	}
	v.registry.CompareAndSwap(nil, newRegistry())
	return v.registry.Load()
}

// clone returns a copy for the caller to change.
func (v *Routes) clone() *Routes {
	n := &Routes{host: v.host, path: v.path, middleware: v.middleware, accept: v.accept, name: v.name}
	n.registry.Store(v.registryOf())
	return n
}

// Group returns Routes for patterns below a prefix: "/api", "example.com/api",
// "example.com" or "/teams/{team}". The prefix has no final slash, because patterns
// begin with one. The pattern of the prefix itself is "", or "GET " for one method.
// Group panics if the prefix is invalid.
func (v *Routes) Group(prefix string) *Routes {
	n := v.clone()
	if problem := n.addPrefix(prefix); problem != "" {
		panic(registerErrorf("group %q (at %s): %s", prefix, callerSite(1), problem))
	}
	return n
}

// With returns Routes that wrap their handlers in middleware. The first middleware sees
// a request first, and all see it after the middleware given earlier. It runs when a
// pattern is found, with Request.Pattern and the values set. Responses of the Router
// itself, such as 405, 406 and to OPTIONS, do not pass it; use [Routes.Guard] for them.
//
// Middleware is built per route: each registration calls each function once. A counter,
// cache or limiter made inside belongs to one route; make one for all routes outside.
func (v *Routes) With(middleware ...func(http.Handler) http.Handler) *Routes {
	if slices.ContainsFunc(middleware, func(mw func(http.Handler) http.Handler) bool { return mw == nil }) {
		panic(registerErrorf("the middleware given at %s is nil", callerSite(1)))
	}
	n := v.clone()
	n.middleware = slices.Concat(v.middleware, middleware)
	return n
}

// Accept returns Routes for requests that accept a media type, such as
// "application/vnd.api.v2+json". The identical pattern may be registered for several
// media types, and once without one for all requests that accept none of them; without
// that registration they get 406. The path selects the pattern first, and Accept
// selects among its media types.
//
// Accept fields have the semantics of RFC 9110: the media type with the highest q is
// chosen, and among equals the first one in the request. A wildcard, or a request
// without Accept, selects the registration without a media type, otherwise the first
// one. q=0 excludes a media type. The charset parameter is ignored; the media type must
// have all other parameters of the range.
func (v *Routes) Accept(mediaType string) *Routes {
	m, err := parseMediaType(mediaType)
	if err != nil {
		panic(registerErrorf("media type %q (at %s): %v", mediaType, callerSite(1), err))
	}
	n := v.clone()
	n.accept = m
	return n
}

// Name returns Routes that name one route, for [Router.URL]. Registering a second route
// with the name panics.
func (v *Routes) Name(name string) *Routes {
	n := v.clone()
	n.name = name
	return n
}

// Handle registers the handler for a pattern. It panics if the pattern is invalid or
// conflicts with a registered one, and if the handler is nil. A panic changes nothing.
// Its value is an error with all mistakes of the call; errors.As finds a *[Mistake] in
// it.
func (v *Routes) Handle(pattern string, h http.Handler) {
	v.register(h, pattern)
}

// HandleFunc registers the function for a pattern. It panics as Handle does.
func (v *Routes) HandleFunc(pattern string, h func(http.ResponseWriter, *http.Request)) {
	v.register(http.HandlerFunc(h), pattern)
}

// Mount registers the handler for a prefix, as in [Routes.Group], and everything below
// it. The handler sees the unchanged URL; http.StripPrefix removes the prefix. Do not
// combine that with a Router, which would redirect to paths without the prefix: give it
// whole patterns instead. A name applies to the prefix itself.
func (v *Routes) Mount(prefix string, h http.Handler) {
	n := v.clone()
	if problem := n.addPrefix(prefix); problem != "" {
		panic(registerErrorf("mount %q (at %s): %s", prefix, callerSite(1), problem))
	}
	if n.path == "" { // the root has no form without a slash
		n.register(h, "/")
		return
	}
	n.register(h, "", "/")
}

// register registers the handler for all the patterns or for none. Only Handle,
// HandleFunc and Mount call it, because the call site of the user is two functions
// above.
func (v *Routes) register(h http.Handler, patterns ...string) {
	at := callerSite(2)
	routes := make([]*route, len(patterns))
	for i, p := range patterns {
		whole, problem := v.fullPattern(p)
		if problem != "" {
			panic(registerErrorf("pattern %q (registered at %s): %s", p, at, problem))
		}
		routes[i] = &route{Route: Route{Pattern: whole}, media: v.accept, site: at}
		if v.accept != nil {
			routes[i].Accept = v.accept.text
		}
	}
	routes[0].Name = v.name
	h = v.wrap(h, routes[0])
	for _, r := range routes {
		r.handler = h
	}
	v.registryOf().add(routes)
}

// wrap returns the handler wrapped in the middleware of v. It panics if the route has
// no handler.
func (v *Routes) wrap(h http.Handler, r *route) http.Handler {
	if f, isFunc := h.(http.HandlerFunc); h == nil || isFunc && f == nil {
		panic(registerErrorf("pattern %q (registered at %s) has no handler", r.Pattern, r.site))
	}
	for _, mw := range slices.Backward(v.middleware) {
		if h = mw(h); h == nil {
			panic(registerErrorf("a middleware returned no handler for pattern %q (registered at %s)",
				r.Pattern, r.site))
		}
	}
	return h
}

// addPrefix appends a prefix to those of v, or returns the problem with it.
func (v *Routes) addPrefix(prefix string) (problem string) {
	host, path := prefix, ""
	if slash := strings.IndexByte(prefix, '/'); slash >= 0 {
		host, path = prefix[:slash], prefix[slash:]
	}
	switch {
	case strings.ContainsAny(prefix, " \t"):
		return "a prefix has no methods and no blanks"
	case strings.HasSuffix(path, "/"):
		return fmt.Sprintf("there is a slash at the end; write %q", strings.TrimRight(prefix, "/"))
	case path == "" && host != "" && !strings.ContainsAny(host, ".:") && host != "localhost":
		return fmt.Sprintf("this is a host; write %q", "/"+host)
	case host != "" && v.host != "":
		return fmt.Sprintf("the host is already %s", v.host)
	case host != "":
		v.host = host
	}
	v.path += path
	return v.registryOf().checkPrefix(v.host + v.path)
}

// fullPattern returns a pattern with the prefixes of v, or the problem with it.
func (v *Routes) fullPattern(pattern string) (whole, problem string) {
	if v.host == "" && v.path == "" {
		return pattern, ""
	}
	_, at, _ := cutBlank(pattern)
	methods, host, path := pattern[:at], pattern[at:], ""
	if slash := strings.IndexByte(host, '/'); slash >= 0 {
		host, path = host[:slash], host[slash:]
	}
	switch {
	case v.host != "" && host != "":
		return "", fmt.Sprintf("it has a host, but its group already has the host %s", v.host)
	case host != "" && path == "":
		return pattern, "" // the parser reports the missing path
	}
	return methods + v.host + host + v.path + path, ""
}
