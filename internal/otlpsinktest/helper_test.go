package otlpsinktest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/peer"
	"github.com/weirhq/weir/internal/streamtest"
	"github.com/weirhq/weir/log/otlpsink"
)

// A tested is a log whose events go to a Collector.
type tested struct {
	*streamtest.Log
	t *testing.T
}

// open opens a log for a server. The end of the test closes it.
func open(t *testing.T, address string) *tested {
	t.Helper()
	to, err := otlpsink.New("otlp+http://" + address + "?timeout=1s")
	if err != nil {
		t.Fatal(err)
	}
	return &tested{streamtest.Open(t, to), t}
}

// checkRecords checks that the Collector has the records that were delivered, and each
// numbered event if none was lost. Records with the same uid count once.
func (l *tested) checkRecords(c *peer.Collector) {
	l.t.Helper()
	s, unique := l.Check(), c.UniqueRecords()
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
	if emitted := l.Emitted(); s.Lost() == 0 && len(numbers) != emitted {
		l.t.Errorf("the Collector has %d numbered events, want %d", len(numbers), emitted)
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
