package otlpsinktest

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/peer"
	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/otlpsink"
	"github.com/weirhq/weir/log/sink"
	"github.com/weirhq/weir/log/stream"
)

// limit is the time in which a Collector or a log must reach a state.
const limit = 30 * time.Second

// await waits until ready returns nil.
func await(t *testing.T, what string, ready func() error) {
	t.Helper()
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		err := ready()
		if err == nil {
			return
		}
		if time.Since(began) > limit {
			t.Fatalf("%s: after %v: %v", what, limit, err)
		}
	}
}

// A tested is a log whose events go to a Collector.
type tested struct {
	t      *testing.T
	sink   *stream.Sink
	logger *log.Logger

	mu      sync.Mutex // guards emitted
	emitted int        // numbered events
	stop    chan struct{}
	writers sync.WaitGroup
}

// open opens a log for a server. The end of the test closes it.
func open(t *testing.T, address string) *tested {
	t.Helper()
	to, err := otlpsink.New("otlp+http://" + address + "?timeout=1s")
	if err != nil {
		t.Fatal(err)
	}
	s, err := stream.New(to, stream.Options{Queue: sink.QueueOptions{Bytes: 64 << 20, Linger: time.Millisecond}})
	if err != nil {
		t.Fatal(err)
	}
	l := &tested{t: t, sink: s, logger: log.New(s, log.Options{Namespace: "test"}), stop: make(chan struct{})}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		s.Close(ctx)
	})
	return l
}

// emit logs n events, numbered over all calls.
func (l *tested) emit(n int) {
	for range n {
		l.mu.Lock()
		l.emitted++
		number := l.emitted
		l.mu.Unlock()
		l.logger.Info("numbered").Int("n", number).Send()
	}
}

// load logs events from several goroutines until end is called.
func (l *tested) load() {
	for range 3 {
		l.writers.Go(func() {
			for {
				select {
				case <-l.stop:
					return
				case <-time.After(2 * time.Millisecond):
					l.emit(5)
				}
			}
		})
	}
}

// end ends the load.
func (l *tested) end() {
	close(l.stop)
	l.writers.Wait()
}

// check checks the identity of the counts.
func (l *tested) check() sink.Stats {
	l.t.Helper()
	s := l.sink.Stats()
	if s.Emitted != s.Written+s.Lost()+s.Waiting {
		l.t.Errorf("%d events emitted, want %d delivered + %d dropped + %d waiting", s.Emitted, s.Written, s.Lost(),
			s.Waiting)
	}
	return s
}

// awaitDelivery waits until all events are delivered or dropped.
func (l *tested) awaitDelivery() sink.Stats {
	l.t.Helper()
	await(l.t, "delivery", func() error {
		if s := l.check(); s.Waiting > 0 {
			return fmt.Errorf("%d of %d events wait; last error: %v", s.Waiting, s.Emitted, s.LastError)
		}
		return nil
	})
	return l.check()
}

// awaitError waits until the last error contains a text.
func (l *tested) awaitError(want string) {
	l.t.Helper()
	await(l.t, "error", func() error {
		if err := l.check().LastError; err == nil || !strings.Contains(err.Error(), want) {
			return fmt.Errorf("%v, want %q", err, want)
		}
		return nil
	})
}

// checkRecords checks that the Collector has the records that were delivered, and each
// numbered event if none was lost. Records with the same uid count once.
func (l *tested) checkRecords(c *peer.Collector) {
	l.t.Helper()
	s, unique := l.check(), c.UniqueRecords()
	if uint64(len(unique)) != s.Written {
		l.t.Errorf("the Collector has %d events, want %d, which were delivered", len(unique), s.Written)
	}
	var numbers []int
	for _, r := range unique {
		if n, ok := r.Attributes["n"].(float64); ok {
			numbers = append(numbers, int(n))
		}
	}
	slices.Sort(numbers)
	if twice := len(numbers) - len(slices.Compact(slices.Clone(numbers))); twice > 0 {
		l.t.Errorf("%d events have two ids", twice)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if s.Lost() == 0 && len(numbers) != l.emitted {
		l.t.Errorf("the Collector has %d numbered events, want %d", len(numbers), l.emitted)
	}
}

// A relay is a proxy before a Collector that can fail.
type relay struct {
	*httptest.Server

	mu   sync.Mutex // guards fail
	fail func(w http.ResponseWriter, r *http.Request, pass http.Handler)
}

func newRelay(t *testing.T, c *peer.Collector) *relay {
	t.Helper()
	pass := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: c.Address})
	pass.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }
	p := new(relay)
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		fail := p.fail
		p.mu.Unlock()
		if fail == nil {
			pass.ServeHTTP(w, r)
		} else {
			fail(w, r, pass)
		}
	}))
	t.Cleanup(p.Close)
	return p
}

// set makes requests fail. With nil, they reach the Collector.
func (p *relay) set(fail func(w http.ResponseWriter, r *http.Request, pass http.Handler)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fail = fail
}

// status responds with a status.
func status(code int, after time.Duration) func(http.ResponseWriter, *http.Request, http.Handler) {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		if after > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(int(after.Seconds())))
		}
		w.WriteHeader(code)
	}
}

// cut closes the connection.
func cut(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) }

// silence does not respond while the client waits.
func silence(_ http.ResponseWriter, r *http.Request, _ http.Handler) {
	io.Copy(io.Discard, r.Body) // the server notices only then that the client disconnects
	<-r.Context().Done()
}

// deaf passes the request on, and closes the connection before the response.
func deaf(_ http.ResponseWriter, r *http.Request, pass http.Handler) {
	pass.ServeHTTP(httptest.NewRecorder(), r)
	panic(http.ErrAbortHandler)
}
