// Package backend is an HTTP service for trying, measuring and testing a front
// door. It responds to every request in the same way, with a configurable size,
// delay and status.
package backend

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/weirhq/weir/internal/machine"
	"github.com/weirhq/weir/internal/readable"
)

// Options configure the responses of a backend. The zero value responds with
// 200 and a short text about the request.
type Options struct {
	Size    int64         // of the body in bytes; 0 means a text about the request
	Latency time.Duration // before the response begins
	Burn    time.Duration // CPU time that each response uses in addition
	Stall   time.Duration // in the middle of the body
	Status  int           // 0 means 200
	Header  http.Header   // added to every response
	Record  io.Writer     // gets a line with the method and the target of each request before the response; nil for none
}

// maxSize limits the size of a response body.
const maxSize = 1 << 40

// Check returns an error if an option is invalid.
func (o Options) Check() error {
	switch {
	case o.Size < 0 || o.Size > maxSize:
		return fmt.Errorf("size %d is not between 0 and %d", o.Size, int64(maxSize))
	case o.Latency < 0:
		return fmt.Errorf("latency %v is below zero", o.Latency)
	case o.Burn < 0:
		return fmt.Errorf("burn %v is below zero", o.Burn)
	case o.Stall < 0:
		return fmt.Errorf("stall %v is below zero", o.Stall)
	case o.Status != 0 && (o.Status < 200 || o.Status > 599):
		return fmt.Errorf("status %d is not between 200 and 599", o.Status)
	}
	return nil
}

// ParseHeader parses a field for Options.Header, "Name: value". It rejects
// fields that cannot be sent unchanged.
func ParseHeader(line string) (name, value string, err error) {
	name, value, found := strings.Cut(line, ":")
	value = strings.Trim(value, " \t")
	switch {
	case !found || name == "":
		return "", "", fmt.Errorf("%q is not like \"Name: value\"", line)
	case strings.ContainsFunc(name, func(r rune) bool {
		return r <= ' ' || r > '~' || strings.ContainsRune(`()<>@,;:\"/[]?={}`, r)
	}):
		return "", "", fmt.Errorf("%q cannot be the name of a field", name)
	case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
		return "", "", fmt.Errorf("the value %q has a control character", value)
	}
	return name, value, nil
}

// Handler returns a handler that responds according to o, which must satisfy
// Check. A request can override options in its query:
// ?size=1MiB&latency=50ms&burn=20us&stall=1s&status=503. The handler first
// reads and discards the request body.
func Handler(o Options) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		own, err := o.with(r.URL.Query())
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		n, _ := io.Copy(io.Discard, r.Body) // an incomplete body gets the same response
		if own.Record != nil {
			if _, err := fmt.Fprintf(own.Record, "%s %s\n", r.Method, r.RequestURI); err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
		}
		own.respond(w, r, n)
	})
}

// with returns the options after the changes in a query.
func (o Options) with(query url.Values) (Options, error) {
	for key, parse := range map[string]func(string) error{
		"size":    func(s string) (err error) { o.Size, err = readable.ParseSize(s); return err },
		"latency": func(s string) (err error) { o.Latency, err = time.ParseDuration(s); return err },
		"burn":    func(s string) (err error) { o.Burn, err = time.ParseDuration(s); return err },
		"stall":   func(s string) (err error) { o.Stall, err = time.ParseDuration(s); return err },
		"status":  func(s string) (err error) { o.Status, err = strconv.Atoi(s); return err },
	} {
		if value := query.Get(key); value != "" {
			if err := parse(value); err != nil {
				return o, fmt.Errorf("%s: %w", key, err)
			}
		}
	}
	return o, o.Check()
}

// respond responds to a request with a body of received bytes.
func (o Options) respond(w http.ResponseWriter, r *http.Request, received int64) {
	if !sleep(r, o.Latency) || !burn(r.Context(), o.Burn) {
		return
	}
	h := w.Header()
	for name, values := range o.Header {
		h[name] = values
	}
	if h.Get("Content-Type") == "" {
		h.Set("Content-Type", "text/plain; charset=utf-8")
	}
	body := about(r, received)
	if o.Size > 0 {
		body = filler(o.Size)
	}
	status := o.Status
	if status == 0 {
		status = http.StatusOK
	}
	if status != http.StatusNoContent && status != http.StatusNotModified {
		h.Set("Content-Length", strconv.FormatInt(body.Size(), 10))
	}
	w.WriteHeader(status)
	if r.Method == http.MethodHead {
		return
	}
	if o.Stall > 0 {
		io.CopyN(w, body, body.Size()/2)
		http.NewResponseController(w).Flush()
		if !sleep(r, o.Stall) {
			return
		}
	}
	io.Copy(w, body) // an error means that the client has disconnected
}

// sleep waits for d, and reports whether the client waited too.
func sleep(r *http.Request, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.Context().Done():
		return false
	}
}

// about returns a text that describes the request.
func about(r *http.Request, received int64) *io.SectionReader {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s %s\nHost: %s\n", r.Method, r.RequestURI, r.Proto, r.Host)
	r.Header.Write(&b)
	if received > 0 {
		fmt.Fprintf(&b, "\n(a body of %d bytes)\n", received)
	}
	return io.NewSectionReader(bytes.NewReader(b.Bytes()), 0, int64(b.Len()))
}

// filler returns n bytes that are not held in memory.
func filler(n int64) *io.SectionReader { return io.NewSectionReader(pattern{}, 0, n) }

// pattern is an endless repetition of block.
type pattern struct{}

const line = "The river runs through the weir, and the weir counts every drop.\n"

var block = strings.Repeat(line, 512)

// ReadAt implements io.ReaderAt.
func (pattern) ReadAt(p []byte, off int64) (int, error) {
	n := copy(p, block[off%int64(len(block)):])
	for n < len(p) {
		n += copy(p[n:], block)
	}
	return n, nil
}

// burn keeps a CPU busy for the given CPU time. It reports whether ctx was
// still active at the end. It uses the clock of the thread, which does not
// advance while another thread has the CPU, so that a response costs the same
// on a busy machine. Where there is no such clock it uses the wall clock.
//
// The cost exceeds d by one reading of the clock and one round of spin, which
// is well below a microsecond and nearly constant.
func burn(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	clock := machine.ThreadCPU
	if clock() == 0 {
		began := time.Now()
		clock = func() time.Duration { return time.Since(began) }
	}
	x := uint64(0)
	for end := clock() + d; clock() < end; {
		if ctx.Err() != nil {
			return false
		}
		x = spin(x, 100)
	}
	runtime.KeepAlive(x)
	return true
}

// spin computes a value in about a nanosecond per round.
//
//go:noinline
func spin(x uint64, rounds int) uint64 {
	for range rounds {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x
}
