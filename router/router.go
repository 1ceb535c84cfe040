package router

import (
	"fmt"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
)

// A Router serves each request with the handler whose pattern matches it
// best. It cleans paths and redirects as http.ServeMux does, answers 404, 405
// with Allow, and OPTIONS with Allow unless a pattern takes it, and sets
// Request.Pattern and Request.PathValue.
//
// The zero Router is ready. Registering and serving may go on at the same
// time: a request sees the patterns registered before it came. Requests take
// no lock; the first one after a registration compiles the patterns anew.
type Router struct {
	serving atomic.Pointer[Table[http.Handler]] // nil: stale

	mu          sync.Mutex // guards what follows
	constraints Constraints
	checked     *builder // all of entries, to find conflicts at once
	entries     []Entry[http.Handler]
	places      []string // where the entries were registered
}

// New returns a Router without patterns.
func New() *Router { return &Router{} }

// Constrain makes c available to the patterns registered from now on, as
// {id:name}. It panics when the name was given before, be it by Constrain or
// by a pattern that used the built-in constraint of that name.
func (r *Router) Constrain(name string, c Constraint) {
	r.mu.Lock()
	defer r.mu.Unlock()
	b := r.builder()
	if _, given := r.constraints[name]; given || b.used[name] {
		panic(fmt.Sprintf("router: the constraint %q is already in use", name))
	}
	r.constraints[name] = c
}

// Handle registers the handler for a pattern. It panics when the pattern
// cannot be read or conflicts with one already registered, and when the
// handler is nil.
func (r *Router) Handle(pattern string, h http.Handler) { r.register(pattern, h) }

// HandleFunc registers the function for a pattern. It panics as [Router.Handle] does.
func (r *Router) HandleFunc(pattern string, h func(http.ResponseWriter, *http.Request)) {
	if h == nil {
		r.register(pattern, nil)
		return
	}
	r.register(pattern, http.HandlerFunc(h))
}

// register is called by nobody but Handle and HandleFunc, so that two frames
// up is who registers.
func (r *Router) register(pattern string, h http.Handler) {
	place := "an unknown place"
	if _, file, line, ok := runtime.Caller(2); ok {
		place = fmt.Sprintf("%s:%d", file, line)
	}
	if h == nil {
		panic(fmt.Sprintf("router: pattern %q (registered at %s) has no handler", pattern, place))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if m := r.builder().add(pattern, len(r.entries)); m != nil {
		panic("router: " + r.describe(m, place))
	}
	r.entries = append(r.entries, Entry[http.Handler]{pattern, h})
	r.places = append(r.places, place)
	r.serving.Store(nil)
}

// describe is m.Error with the places of the registrations.
func (r *Router) describe(m *Mistake, place string) string {
	if m.Other < 0 {
		return m.Error() + " (registered at " + place + ")"
	}
	return fmt.Sprintf("pattern %q (registered at %s) conflicts with pattern %q (registered at %s): both match %q and neither is more specific",
		m.Pattern, place, m.OtherPattern, r.places[m.Other], m.Example)
}

// builder returns the builder of the patterns so far; r.mu is held.
func (r *Router) builder() *builder {
	if r.checked == nil {
		r.constraints = Constraints{}
		r.checked = newBuilder(r.constraints)
	}
	return r.checked
}

// table returns the compiled patterns.
func (r *Router) table() *Table[http.Handler] {
	if t := r.serving.Load(); t != nil {
		return t
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if t := r.serving.Load(); t != nil {
		return t // another request was faster
	}
	t := newTable(r.builder(), r.entries)
	r.serving.Store(t)
	return t
}
