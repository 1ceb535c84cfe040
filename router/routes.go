package router

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
)

// Routes are a place in a [Router] and a way to register handlers there:
// below a prefix, behind middleware, for a media type. Its methods return
// narrower Routes and leave it as it is, so that goroutines may share it. The
// first Routes is the Router's own; one from elsewhere is never served.
type Routes struct {
	registry   atomic.Pointer[registry] // the Router's; nil in a Router never used
	host, path string                   // prefixes of the patterns
	middleware []func(http.Handler) http.Handler
	accept     *mediaType
	name       string
}

// registryOf returns the registry, which the first one to ask makes.
func (v *Routes) registryOf() *registry {
	if g := v.registry.Load(); g != nil {
		return g
	}
	v.registry.CompareAndSwap(nil, newRegistry())
	return v.registry.Load()
}

// narrowed returns a copy for its caller to change.
func (v *Routes) clone() *Routes {
	n := &Routes{host: v.host, path: v.path, middleware: v.middleware, accept: v.accept, name: v.name}
	n.registry.Store(v.registryOf())
	return n
}

// Group returns Routes whose patterns lie below a prefix: "/api",
// "example.com/api", "example.com" or "/teams/{team}". It has no slash at its
// end, since a pattern begins with one; the prefix itself is the pattern "",
// or "GET " for one method. Group panics when the prefix cannot be read.
func (v *Routes) Group(prefix string) *Routes {
	n := v.clone()
	if problem := n.addPrefix(prefix); problem != "" {
		panic(registerErrorf("group %q (at %s): %s", prefix, callerSite(1), problem))
	}
	return n
}

// With returns Routes whose handlers are wrapped in middleware. The first sees
// a request first, and all see it after the middleware given earlier. It runs
// once a pattern is found, with Request.Pattern and the values set. Responses
// of the Router itself, such as 405, 406 and to OPTIONS, do not pass it:
// [Routes.Guard] is for those.
//
// The middleware is built per route: every registration calls each function
// once. A counter, cache or limiter that it makes inside belongs to one route;
// one that all routes share is made outside.
func (v *Routes) With(middleware ...func(http.Handler) http.Handler) *Routes {
	if slices.ContainsFunc(middleware, func(mw func(http.Handler) http.Handler) bool { return mw == nil }) {
		panic(registerErrorf("the middleware given at %s is nil", callerSite(1)))
	}
	n := v.clone()
	n.middleware = slices.Concat(v.middleware, middleware)
	return n
}

// Accept returns Routes for requests that ask for a media type, such as
// "application/vnd.api.v2+json". The same pattern, letter by letter, may be
// registered for several media types, and once without one for all requests
// that none of them suits; if there is none such, those get 406. The media
// type is chosen among those of the pattern that the path found.
//
// A request's Accept is read as RFC 9110 says: the media type with the highest
// q is chosen, then the one that stands first in the request. A wildcard, or
// no Accept at all, chooses what was registered without a media type, else
// what was registered first; q=0 excludes. The charset in an Accept is
// ignored, every other parameter has to be among the media type's.
func (v *Routes) Accept(mediaType string) *Routes {
	m, err := parseMediaType(mediaType)
	if err != nil {
		panic(registerErrorf("media type %q (at %s): %v", mediaType, callerSite(1), err))
	}
	n := v.clone()
	n.accept = m
	return n
}

// Name returns Routes that give one route a name, by which [Router.URL]
// builds its path. Registering a second one by the same name panics.
func (v *Routes) Name(name string) *Routes {
	n := v.clone()
	n.name = name
	return n
}

// Handle registers the handler for a pattern. It panics when the pattern
// cannot be read or conflicts with one already registered, and when the
// handler is nil. A panic leaves everything as it was. Its value is an error
// that names all mistakes of the call; errors.As finds a *[Mistake] in it.
func (v *Routes) Handle(pattern string, h http.Handler) {
	v.register(h, pattern)
}

// HandleFunc registers the function for a pattern. It panics as Handle does.
func (v *Routes) HandleFunc(pattern string, h func(http.ResponseWriter, *http.Request)) {
	v.register(http.HandlerFunc(h), pattern)
}

// Mount registers the handler for a prefix, as [Routes.Group] reads it, and
// for everything below. The handler sees the URL as it came; http.StripPrefix
// takes the prefix off. A Router does not belong behind that, since it would
// redirect to paths without the prefix: it has whole patterns of its own. A
// name is that of the prefix itself.
func (v *Routes) Mount(prefix string, h http.Handler) {
	n := v.clone()
	if problem := n.addPrefix(prefix); problem != "" {
		panic(registerErrorf("mount %q (at %s): %s", prefix, callerSite(1), problem))
	}
	if n.path == "" { // the root has no other spelling
		n.register(h, "/")
		return
	}
	n.register(h, "", "/")
}

// register registers the handler for all the patterns or for none. Handle,
// HandleFunc and Mount alone call it, so that who registers is two functions
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

// behindMiddleware returns the handler behind the middleware of v. It panics
// when there is none for the route.
func (v *Routes) wrap(h http.Handler, r *route) http.Handler {
	if f, isFunc := h.(http.HandlerFunc); h == nil || isFunc && f == nil {
		panic(registerErrorf("pattern %q (registered at %s) has no handler", r.Pattern, r.site))
	}
	for _, mw := range slices.Backward(v.middleware) {
		if h = mw(h); h == nil {
			panic(registerErrorf("a middleware made no handler for pattern %q (registered at %s)", r.Pattern, r.site))
		}
	}
	return h
}

// descend appends a prefix to those of v, or returns what is wrong with it.
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
		return fmt.Sprintf("this would be a host; write %q", "/"+host)
	case host != "" && v.host != "":
		return fmt.Sprintf("the host is %s already", v.host)
	case host != "":
		v.host = host
	}
	v.path += path
	return v.registryOf().checkPrefix(v.host + v.path)
}

// whole returns a pattern with the prefixes of v, or what is wrong with it.
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
		return "", fmt.Sprintf("it names a host and is in a group of the host %s", v.host)
	case host != "" && path == "":
		return pattern, "" // which is told that there is no path
	}
	return methods + v.host + host + v.path + path, ""
}
