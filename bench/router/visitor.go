package router

import (
	"net/http"
	"runtime"
	"sync"
)

// A visitor sends requests to a router from one goroutine.
type visitor struct {
	requests []*http.Request // those of the set, with response as their body
	response response
	writer   silent
	fresh    http.Request
}

func newVisitor(s set) *visitor {
	v := &visitor{writer: silent{http.Header{}}}
	for _, r := range s.requests {
		mine := *r
		mine.Body = &v.response
		v.requests = append(v.requests, &mine)
	}
	return v
}

// silent is a ResponseWriter that discards everything, because only the routing is measured.
type silent struct{ header http.Header }

func (w *silent) Header() http.Header         { return w.header }
func (w *silent) Write(b []byte) (int, error) { return len(b), nil }
func (w *silent) WriteHeader(int)             {}

// visiting is an opened router. It returns a function that sends the visitor's i-th request.
type visiting func(v *visitor) (ask func(i int))

// serving is for handlers that do not change the request, so that it can be sent again.
func serving(h http.Handler) visiting {
	return func(v *visitor) func(int) {
		return func(i int) { h.ServeHTTP(&v.writer, v.requests[i]) }
	}
}

// servingFresh copies the request each time, as if it came from a server. Otherwise a router that writes into the
// request would find its map of the last time. The copy is part of the measurement.
func servingFresh(h http.Handler) visiting {
	return func(v *visitor) func(int) {
		return func(i int) {
			v.fresh = *v.requests[i]
			h.ServeHTTP(&v.writer, &v.fresh)
		}
	}
}

// inTurn sends the requests one after the other, from next on, and starts again after the last one.
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

// atOnce sends from as many goroutines as there are CPUs. Each starts with another request.
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
