package stream_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/weirhq/weir/log/stream"
)

// A fault is a behaviour of a collector.
type fault string

const (
	healthy fault = "healthy"
	stalls  fault = "stalls"          // does not respond
	cuts    fault = "cuts"            // closes the connection instead of a response
	loses   fault = "loses responses" // stores the lines, and closes the connection
	away    fault = "away"            // refuses connections
	code429 fault = "429"
	code503 fault = "503"
	code400 fault = "400" // will never store the lines
)

// A collector is an HTTP server that stores lines by their id.
type collector struct {
	addr string

	mu       sync.Mutex
	server   *http.Server // nil while it is away
	fault    fault
	lines    map[string]string // by id
	rejected map[string]bool   // ids of the requests with 400
	repeated int               // lines that were stored already
	differs  error             // a line that came with another text before
}

func newCollector(t *testing.T) *collector {
	t.Helper()
	c := &collector{addr: "127.0.0.1:0", fault: healthy, lines: map[string]string{}, rejected: map[string]bool{}}
	c.listen(t)
	t.Cleanup(func() { c.set(t, away) })
	return c
}

func (c *collector) listen(t *testing.T) {
	t.Helper()
	l, err := net.Listen("tcp", c.addr)
	if err != nil {
		t.Fatal(err)
	}
	c.addr = l.Addr().String()
	c.server = &http.Server{Handler: c}
	go c.server.Serve(l)
}

// set changes the behaviour.
func (c *collector) set(t *testing.T, f fault) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fault = f
	switch {
	case f == away && c.server != nil:
		c.server.Close()
		c.server = nil
	case f != away && c.server == nil:
		c.listen(t)
	}
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	first, _ := strconv.ParseUint(r.Header.Get("First"), 10, 64)
	b := stream.Batch{Lines: text, Count: bytes.Count(text, []byte("\n")), Source: r.Header.Get("Source"), First: first}
	switch f := c.handle(b); f {
	case stalls:
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	case cuts, loses, away:
		panic(http.ErrAbortHandler)
	case code429:
		w.Header().Set("Retry-After", "0")
		w.WriteHeader(429)
	case code503, code400:
		status, _ := strconv.Atoi(string(f))
		w.WriteHeader(status)
	}
}

// handle stores the lines of a batch if the collector does so.
func (c *collector) handle(b stream.Batch) fault {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := 0
	for line := range bytes.Lines(b.Lines) {
		id := string(b.AppendID(nil, i))
		i++
		switch c.fault {
		case healthy, loses:
			if before, again := c.lines[id]; again {
				c.repeated++
				if before != string(line) {
					c.differs = fmt.Errorf("%s is %q, and was %q", id, line, before)
				}
			}
			c.lines[id] = string(line)
		case code400:
			c.rejected[id] = true
		}
	}
	return c.fault
}

// counts returns the number of different lines, and of those that were rejected.
func (c *collector) counts() (stored, rejected, repeated int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.lines), len(c.rejected), c.repeated, c.differs
}

// An httpDestination delivers to a collector.
type httpDestination struct {
	url    string
	client *http.Client
}

func newHTTPDestination(addr string) *httpDestination {
	client := &http.Client{Timeout: 300 * time.Millisecond, Transport: new(http.Transport)}
	return &httpDestination{"http://" + addr, client}
}

func (d *httpDestination) Deliver(ctx context.Context, b stream.Batch) error {
	r, err := http.NewRequestWithContext(ctx, "POST", d.url, bytes.NewReader(b.Lines))
	if err != nil {
		return err
	}
	r.Header.Set("Source", b.Source)
	r.Header.Set("First", strconv.FormatUint(b.First, 10))
	resp, err := d.client.Do(r)
	if err != nil {
		return err
	}
	resp.Body.Close()
	switch resp.StatusCode {
	case 200:
		return nil
	case 400:
		return &stream.RejectedError{Lines: b.Count, Err: fmt.Errorf("status %d", resp.StatusCode)}
	}
	return &stream.UnavailableError{Err: fmt.Errorf("status %d", resp.StatusCode)}
}

func (d *httpDestination) Close() error {
	d.client.CloseIdleConnections()
	return nil
}
