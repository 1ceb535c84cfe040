package httplog_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/httplog"
	"github.com/weirhq/weir/log/sink"
)

// names returns the names of the events that are written for a request to a handler, and the events.
func names(t *testing.T, o httplog.Options, h http.HandlerFunc, r *http.Request) (all []string, events []event) {
	t.Helper()
	j := &journal{t, make(chan event, 1000)}
	logger := log.New(j, log.Options{Level: log.LevelDebug})
	func() {
		defer func() { recover() }() // as net/http does
		httplog.Middleware(logger, o)(h).ServeHTTP(&fullWriter{header: http.Header{}}, r)
	}()
	close(j.events)
	for e := range j.events {
		all, events = append(all, e.Event), append(events, e)
	}
	return all, events
}

var (
	allEvents = []string{"http request received", "an order was found", "http request completed"}
	lastEvent = allEvents[2:]
)

// TestInterestingRequestsWriteAllEvents has a case for each reason.
func TestInterestingRequestsWriteAllEvents(t *testing.T) {
	const sampled, unsampled = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
		"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"
	trust := func(of bool) func(*http.Request) bool { return func(*http.Request) bool { return of } }
	status := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }
	}
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range []struct {
		name    string
		keep    *httplog.Keep
		parent  string
		ctx     context.Context
		handler http.HandlerFunc
		want    []string
	}{
		{name: "quick and without failure", handler: status(200), want: lastEvent},
		{name: "a mistake of the client", handler: status(404), want: lastEvent},
		{name: "an error of the server", handler: status(500), want: allEvents},
		{name: "a panic", handler: func(http.ResponseWriter, *http.Request) { panic("why") }, want: allEvents},
		{name: "aborted", handler: func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, want: allEvents},
		{name: "the client has gone", handler: status(200), ctx: canceled, want: allEvents},
		{name: "slower", keep: &httplog.Keep{SlowerThan: 1}, handler: status(200), want: allEvents},
		{name: "a first request has none to compare with", keep: &httplog.Keep{}, handler: status(200), want: lastEvent},
		{name: "in the share", keep: &httplog.Keep{Share: 1}, handler: status(200), want: allEvents},
		{name: "outside of the share", keep: &httplog.Keep{Share: 1e-9}, handler: status(200), want: lastEvent},
		{name: "sampled by a trusted client", keep: &httplog.Keep{Trust: trust(true)}, parent: sampled, handler: status(200), want: allEvents},
		{name: "sampled by another client", keep: &httplog.Keep{Trust: trust(false)}, parent: sampled, handler: status(200), want: lastEvent},
		{name: "not sampled", keep: &httplog.Keep{Trust: trust(true)}, parent: unsampled, handler: status(200), want: lastEvent},
		{name: "no traceparent", keep: &httplog.Keep{Trust: trust(true)}, handler: status(200), want: lastEvent},
		{name: "a connection that is hijacked", keep: &httplog.Keep{SlowerThan: 1},
			handler: func(w http.ResponseWriter, _ *http.Request) { w.(http.Hijacker).Hijack() }, want: lastEvent},
	} {
		t.Run(c.name, func(t *testing.T) {
			keep := c.keep
			if keep == nil {
				keep = &httplog.Keep{SlowerThan: time.Hour}
			}
			r := newRequest(t)
			if c.ctx != nil {
				r = r.WithContext(c.ctx)
			}
			if c.parent != "" {
				r.Header.Set("Traceparent", c.parent)
			}
			got, _ := names(t, httplog.Options{Keep: keep}, func(w http.ResponseWriter, r *http.Request) {
				log.From(r.Context()).Debug("an order was found").Send()
				c.handler(w, r)
			}, r)
			if !slices.Equal(got, c.want) {
				t.Errorf("events %q, want %q", got, c.want)
			}
			if n := keep.Counts.Discarded(); n != int64(len(allEvents)-len(c.want)) || keep.Counts.Held() != 0 {
				t.Errorf("%d events were discarded, %d are held", n, keep.Counts.Held())
			}
		})
	}
}

// TestWarningOfAHandlerWritesItsEventsAtOnce checks the events while the handler runs.
func TestWarningOfAHandlerWritesItsEventsAtOnce(t *testing.T) {
	keep := &httplog.Keep{SlowerThan: time.Hour}
	var j bytes.Buffer
	logger := log.New(&j, log.Options{Level: log.LevelDebug})
	httplog.Middleware(logger, httplog.Options{Keep: keep})(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		slog.New(logger.Handler()).DebugContext(r.Context(), "looking up")
		if j.Len() > 0 || keep.Counts.Held() != 2 {
			t.Errorf("%d events are held, want 2, and these were written: %s", keep.Counts.Held(), j.String())
		}
		log.From(r.Context()).Warn("stock is low").Send()
		if n := strings.Count(j.String(), "\n"); n != 3 {
			t.Errorf("%d events were written, want 3: %s", n, j.String())
		}
	})).ServeHTTP(httptest.NewRecorder(), newRequest(t))
}

// The events of a goroutine that outlives its request do not get into another one, and are not lost.
func TestEventsAfterTheRequestAreWritten(t *testing.T) {
	keep := &httplog.Keep{SlowerThan: time.Hour}
	j := &journal{t, make(chan event, 10)}
	var later *log.Logger
	h := httplog.Middleware(newLogger(j), httplog.Options{Events: httplog.EventsCompleted, Keep: keep})(
		http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if later == nil {
				later = log.From(r.Context())
				return
			}
			later.Info("receipt was sent").Send()
			if keep.Counts.Held() != 0 {
				t.Error("another request holds the event")
			}
		}))
	for range 2 {
		h.ServeHTTP(httptest.NewRecorder(), newRequest(t))
	}
	first := j.completed()
	if e := j.next("receipt was sent"); e.TraceID != first.TraceID {
		t.Errorf("trace id %q, want %q", e.TraceID, first.TraceID)
	}
	j.completed()
}

// A request with more events than fit writes the newest of them, and says how many are missing.
func TestRequestSaysHowManyEventsAreMissing(t *testing.T) {
	keep := &httplog.Keep{Bytes: 4000}
	const events = 200
	got, all := names(t, httplog.Options{Events: httplog.EventsCompleted, Keep: keep}, func(w http.ResponseWriter, r *http.Request) {
		for n := range events {
			log.From(r.Context()).Info(strconv.Itoa(n)).Send()
		}
		w.WriteHeader(http.StatusBadGateway)
	}, newRequest(t))
	missing := all[len(all)-1].Data.Discarded
	var want []string
	for n := missing; n < events; n++ {
		want = append(want, strconv.Itoa(n))
	}
	if want = append(want, lastEvent...); missing == 0 || !slices.Equal(got, want) {
		t.Errorf("%d are missing, the events are %q, want %q", missing, got, want)
	}
	if n := keep.Counts.Discarded(); n != int64(missing) {
		t.Errorf("%d were discarded", n)
	}
}

// TestSlowestPercentOfEachRouteIsInteresting has a quick and a slow route. One request of a hundred takes longer than the
// others of its route, but on the quick route not longer than those of the slow one.
func TestSlowestPercentOfEachRouteIsInteresting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mux := http.NewServeMux()
		n := 0
		for pattern, usual := range map[string]time.Duration{"/quick": time.Millisecond, "/slow": time.Second} {
			mux.HandleFunc(pattern, func(_ http.ResponseWriter, r *http.Request) {
				if time.Sleep(usual); n%100 == 99 {
					time.Sleep(usual)
				}
				log.From(r.Context()).Info("an order was found").Send()
			})
		}
		written := map[string]int{}
		var out bytes.Buffer
		h := httplog.Middleware(newLogger(&out), httplog.Options{Events: httplog.EventsCompleted, Keep: new(httplog.Keep)})(mux)
		for n = range 5000 {
			for _, path := range []string{"/quick", "/slow"} {
				out.Reset()
				h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", path, nil))
				if strings.Contains(out.String(), "an order was found") {
					written[fmt.Sprint(path, " longer: ", n%100 == 99)]++
				}
			}
		}
		for _, path := range []string{"/quick", "/slow"} {
			if longer, usual := written[path+" longer: true"], written[path+" longer: false"]; longer < 45 || usual > 50 {
				t.Errorf("%s: the events of %d of 50 longer requests and of %d others were written", path, longer, usual)
			}
		}
	})
}

// TestEveryEventOfAServiceIsCounted compares the events that handlers have logged with all counts, of a queue that
// loses some.
func TestEveryEventOfAServiceIsCounted(t *testing.T) {
	const requests, goroutines = 300, 8
	queue := sink.NewQueue(io.Discard, sink.QueueOptions{Bytes: 20_000, WhenFull: sink.Drop})
	keep := &httplog.Keep{SlowerThan: time.Hour, Share: 0.3, Bytes: 2000}
	h := httplog.Middleware(log.New(queue, log.Options{}), httplog.Options{Keep: keep})(
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			for range 20 {
				log.From(r.Context()).Info("an order was found").Send()
			}
			if r.URL.Path == "/fails" {
				w.WriteHeader(http.StatusInternalServerError)
			}
		}))
	var all sync.WaitGroup
	for range goroutines {
		all.Go(func() {
			for n := range requests {
				path := "/"
				if n%10 == 0 {
					path = "/fails"
				}
				h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", path, nil))
			}
		})
	}
	all.Wait()
	if err := queue.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	s := queue.Stats()
	logged := int64(requests * goroutines * 22)
	own := int64(s.Emitted) + keep.Counts.Held() + keep.Counts.Discarded() - logged // events of the queue itself
	if own < 0 || own > 10 || keep.Counts.Held() != 0 || s.Emitted != s.Written+s.Lost() {
		t.Errorf("of %d events the queue has %+v, %d are held, %d were discarded", logged, s, keep.Counts.Held(), keep.Counts.Discarded())
	}
}
