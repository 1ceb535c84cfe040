package router

import (
	"net/http"
	"runtime"
	"sync"
)

// A visitor asks a router, one goroutine at a time.
type visitor struct {
	requests []*http.Request // the set's, with answer as their body
	answer   answer
	writer   silent
	fresh    http.Request
}

func newVisitor(s set) *visitor {
	v := &visitor{writer: silent{http.Header{}}}
	for _, r := range s.requests {
		mine := *r
		mine.Body = &v.answer
		v.requests = append(v.requests, &mine)
	}
	return v
}

// silent is a ResponseWriter that nobody reads: what is measured is the way to the handler.
type silent struct{ header http.Header }

func (w *silent) Header() http.Header         { return w.header }
func (w *silent) Write(b []byte) (int, error) { return len(b), nil }
func (w *silent) WriteHeader(int)             {}

// visiting is a router, opened: it returns what asks it for the visitor's i-th request.
type visiting func(v *visitor) (ask func(i int))

// serving is a handler that leaves nothing in the request, so that the request can be sent again.
func serving(h http.Handler) visiting {
	return func(v *visitor) func(int) {
		return func(i int) { h.ServeHTTP(&v.writer, v.requests[i]) }
	}
}

// servingFresh is a handler that gets a new request each time, as from a server. One that writes into the request
// would otherwise find the map there that it made the last time. The copy is part of what is measured.
func servingFresh(h http.Handler) visiting {
	return func(v *visitor) func(int) {
		return func(i int) {
			v.fresh = *v.requests[i]
			h.ServeHTTP(&v.writer, &v.fresh)
		}
	}
}

// inTurn asks for the requests one after the other, beginning with next and starting again after the last.
func inTurn(ask func(int), next, requests int) func(n int) {
	return func(n int) {
		for range n {
			ask(next)
			if next++; next == requests {
				next = 0
			}
		}
	}
}

// atOnce asks from as many goroutines as there are processors. Each begins at another request.
func atOnce(visit visiting, s set) func(n int) {
	var visitors []func(int)
	for k := range runtime.NumCPU() {
		first := k * len(s.requests) / runtime.NumCPU()
		visitors = append(visitors, inTurn(visit(newVisitor(s)), first, len(s.requests)))
	}
	return func(n int) {
		var all sync.WaitGroup
		for k, run := range visitors {
			all.Go(func() { run((n + k) / len(visitors)) })
		}
		all.Wait()
	}
}
