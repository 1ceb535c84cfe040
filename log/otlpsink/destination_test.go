package otlpsink

import (
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/weirhq/weir/log/stream"
)

// A server stores the events of the requests that respond accepts.
type server struct {
	*httptest.Server
	respond func(w http.ResponseWriter, events []string) (stored bool)

	mu       sync.Mutex
	requests []*http.Request
	stored   []string
}

// startServer starts a server. Without respond, it stores everything.
func startServer(t *testing.T, respond func(w http.ResponseWriter, events []string) bool) *server {
	t.Helper()
	s := &server{respond: respond}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.handle(t, w, r) }))
	t.Cleanup(s.Close)
	return s
}

func (s *server) handle(t *testing.T, w http.ResponseWriter, r *http.Request) {
	body := r.Body
	switch coding := r.Header.Get("Content-Encoding"); coding {
	case "gzip":
		decoded, err := gzip.NewReader(body)
		if err != nil {
			t.Error(err)
			return
		}
		body = decoded
	case "zstd":
		decoded, err := zstd.NewReader(body)
		if err != nil {
			t.Error(err)
			return
		}
		body = decoded.IOReadCloser()
	case "":
	default:
		t.Errorf("the coding is %q", coding)
	}
	text, err := io.ReadAll(body)
	if err != nil {
		return // the client has given up
	}
	var events []string
	for _, record := range decode(t, text) {
		events = append(events, fmt.Sprint(record.body))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
	w.Header().Set("Content-Type", "application/x-protobuf")
	if s.respond == nil || s.respond(w, events) {
		s.stored = append(s.stored, events...)
	}
}

// url returns the URL for New.
func (s *server) url() string { return "otlp+" + s.URL }

// batch returns a batch with the events 1 to n.
func batch(n int) stream.Batch {
	b := stream.Batch{Count: n, Source: "s", First: 1}
	for i := range n {
		b.Lines = fmt.Appendf(b.Lines, `{"created_at":"2026-11-21T09:30:15Z","namespace":"n","event":"%d"}`+"\n", i+1)
	}
	return b
}

func numbers(n int) (events []string) {
	for i := range n {
		events = append(events, fmt.Sprint(i+1))
	}
	return events
}

// deliver delivers a batch of n events to a server and closes the Destination.
func deliver(t *testing.T, url string, n int) error {
	t.Helper()
	d, err := New(url)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	return d.Deliver(t.Context(), batch(n))
}

func TestEachCompressionIsDelivered(t *testing.T) {
	t.Parallel()
	for _, parameters := range []string{"", "?compression=gzip", "?compression=zstd", "?compression=none"} {
		s := startServer(t, nil)
		d, err := New(s.url() + parameters)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if err := d.Deliver(t.Context(), batch(200)); err != nil {
				t.Fatal(err)
			}
		}
		d.Close()
		if want := slices.Concat(numbers(200), numbers(200), numbers(200)); !slices.Equal(s.stored, want) {
			t.Errorf("%q: stored %q", parameters, s.stored)
		}
		if r := s.requests[0]; r.URL.Path != "/v1/logs" || r.Header.Get("Content-Type") != "application/x-protobuf" {
			t.Errorf("request to %s with %v", r.URL, r.Header)
		}
	}
}

func TestPathOfURLIsCompleted(t *testing.T) {
	t.Parallel()
	s := startServer(t, nil)
	for path, want := range map[string]string{"": "/v1/logs", "/": "/v1/logs", "/otlp": "/otlp/v1/logs",
		"/otlp/":        "/otlp/v1/logs",
		"/otlp/v1/logs": "/otlp/v1/logs"} {
		if err := deliver(t, s.url()+path, 1); err != nil {
			t.Fatal(err)
		}
		if got := s.requests[len(s.requests)-1].URL.Path; got != want {
			t.Errorf("%q: the path is %q, want %q", path, got, want)
		}
	}
}

func TestResponseDecidesTheOutcome(t *testing.T) {
	t.Parallel()
	partial := func(rejected int64, message string) []byte {
		var p []byte
		p = protowire.AppendVarint(protowire.AppendTag(p, 1, protowire.VarintType), uint64(rejected))
		p = protowire.AppendString(protowire.AppendTag(p, 2, protowire.BytesType), message)
		return protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), p)
	}
	status := protowire.AppendString(protowire.AppendTag(nil, 2, protowire.BytesType), "too much")
	const waits = -1 // instead of a number of rejected lines
	for _, c := range []struct {
		name     string
		status   int
		header   string // NAME: VALUE
		body     []byte
		rejected int
		after    time.Duration
		message  string
		requests int
	}{
		{"stored", 200, "", nil, 0, 0, "", 1},
		{"stored, with a warning", 200, "", partial(0, "old"), 0, 0, "", 1},
		{"no content", 204, "", nil, 0, 0, "", 1},
		{"some rejected", 200, "", partial(2, "no body"), 2, 0, `rejected 2 events: "no body"`, 1},
		{"more rejected than sent", 200, "", partial(1<<60, ""), 8, 0, "rejected", 1},
		{"a negative number", 200, "", partial(-5, ""), 0, 0, "", 1},
		{"a body that is no protobuf", 200, "", []byte("<html>"), 0, 0, "", 1},
		{"a page", 200, "Content-Type: text/html; charset=utf-8", nil, waits, 0, "not a server of OTLP", 1},
		{"too many", 429, "Retry-After: 7", status, waits, 7 * time.Second, `429 Too Many Requests: "too much"`, 1},
		{"bad gateway", 502, "", nil, waits, 0, "502 Bad Gateway", 1},
		{"unavailable", 503, "Retry-After: 2147483647", nil, waits, maxRetryAfter, "503", 1},
		{"unavailable until a date", 503, "Retry-After: Wed, 21 Oct 2015 07:28:00 GMT", nil, waits, 0, "503", 1},
		{"unavailable, with nonsense", 503, "Retry-After: -5", nil, waits, 0, "503", 1},
		{"gateway timeout", 504, "", nil, waits, 0, "504", 1},
		{"redirect", 307, "Location: /elsewhere", nil, waits, 0, "redirects are not followed", 1},
		{"wrong token", 401, "Content-Type: text/plain", []byte("expired\n"), waits, 0, `401 Unauthorized: "expired\n"`, 1},
		{"forbidden", 403, "", nil, waits, 0, "403", 1},
		{"wrong path", 404, "", nil, waits, 0, "404", 1},
		{"not implemented", 501, "", nil, 8, 0, "501", 1},
		{"internal error", 500, "", nil, 8, 0, "500", 1},
		{"all bad", 400, "", nil, 8, 0, "400", 15},
		{"too large", 413, "", nil, 8, 0, "413", 15},
		{"unprocessable", 422, "", nil, 8, 0, "422", 15},
		{"a long message", 500, "Content-Type: text/plain", []byte(strings.Repeat("x", 1<<20)), 8, 0,
			strings.Repeat("x", 200) + `"`, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := startServer(t, func(w http.ResponseWriter, _ []string) bool {
				if name, value, found := strings.Cut(c.header, ": "); found {
					w.Header().Set(name, value)
				}
				w.WriteHeader(c.status)
				w.Write(c.body)
				return c.status == 200
			})
			err := deliver(t, s.url(), 8)
			var rejected *stream.RejectedError
			var unavailable *stream.UnavailableError
			switch {
			case errors.As(err, &rejected):
				if rejected.Lines != c.rejected {
					t.Errorf("rejected %d lines, want %d", rejected.Lines, c.rejected)
				}
			case c.rejected > 0:
				t.Errorf("the error is %v", err)
			case errors.As(err, &unavailable):
				if c.rejected != waits || unavailable.After != c.after {
					t.Errorf("unavailable for %s, want %s", unavailable.After, c.after)
				}
			case (err != nil) != (c.rejected == waits):
				t.Errorf("the error is %v", err)
			}
			if err != nil && !strings.Contains(err.Error(), c.message) {
				t.Errorf("the error is %q, want %q", err, c.message)
			}
			if len(s.requests) != c.requests {
				t.Errorf("%d requests, want %d", len(s.requests), c.requests)
			}
		})
	}
}

// The server refuses requests with a certain event, or that are too long. The other events of the batch are stored,
// in order.
func TestBadRecordRejectsNoOther(t *testing.T) {
	t.Parallel()
	bad := startServer(t, func(w http.ResponseWriter, events []string) bool {
		if slices.Contains(events, "77") {
			w.WriteHeader(http.StatusBadRequest)
			return false
		}
		return true
	})
	var rejected *stream.RejectedError
	if err := deliver(t, bad.url(), 150); !errors.As(err, &rejected) || rejected.Lines != 1 {
		t.Errorf("the error is %v, want one rejected line", err)
	}
	if want := slices.Delete(numbers(150), 76, 77); !slices.Equal(bad.stored, want) || len(bad.requests) > maxSplits {
		t.Errorf("stored %q in %d requests", bad.stored, len(bad.requests))
	}
	short := startServer(t, func(w http.ResponseWriter, events []string) bool {
		if len(events) > 10 {
			w.WriteHeader(http.StatusRequestEntityTooLarge)
			return false
		}
		return true
	})
	if err := deliver(t, short.url(), 150); err != nil || !slices.Equal(short.stored, numbers(150)) {
		t.Errorf("%v; stored %q", err, short.stored)
	}
	// The requests for a batch are bounded.
	none := startServer(t, func(w http.ResponseWriter, _ []string) bool {
		w.WriteHeader(http.StatusBadRequest)
		return false
	})
	if err := deliver(t, none.url(), 1000); !errors.As(err, &rejected) || rejected.Lines != 1000 {
		t.Errorf("the error is %v, want 1000 rejected lines", err)
	}
	if got := len(none.requests); got != 2*maxSplits+1 {
		t.Errorf("%d requests for a batch, want %d", got, 2*maxSplits+1)
	}
}

// TestHeadersOfFileAndURLAreSent sends the fields of a file, which changes, and those of the URL. The target of
// a redirect gets none of them.
func TestHeadersOfFileAndURLAreSent(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "headers")
	write := func(text string, second int64) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, time.Time{}, time.Unix(second, 0)); err != nil {
			t.Fatal(err)
		}
	}
	s := startServer(t, nil)
	write("# for the tests\n\nX-Scope-OrgID: 5\nX-Scope-OrgID: 6\nauthorization:Bearer a:b \n", 1)
	d, err := New(strings.Replace(s.url(), "://", "://ann:p%40ss@", 1) + "?headers=" + file)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	last := func() http.Header {
		t.Helper()
		if err := d.Deliver(t.Context(), batch(1)); err != nil {
			t.Fatal(err)
		}
		return s.requests[len(s.requests)-1].Header
	}
	if h := last(); h.Get("Authorization") != "Bearer a:b" ||
		!slices.Equal(h.Values("X-Scope-OrgID"), []string{"5", "6"}) {
		t.Errorf("the fields are %v", h)
	}
	write("x-other: 1\n", 2)
	if h := last(); h.Get("Authorization") != "Basic YW5uOnBAc3M=" || h.Get("X-Other") != "1" ||
		h.Get("X-Scope-OrgID") != "" {
		t.Errorf("the fields are %v after the change", h)
	}
	os.Remove(file)
	if err := d.Deliver(t.Context(), batch(1)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without the file, the error is %v", err)
	}

	target := startServer(t, nil)
	redirect := startServer(t, func(w http.ResponseWriter, _ []string) bool {
		w.Header().Set("Location", target.URL+"/v1/logs")
		w.WriteHeader(http.StatusPermanentRedirect)
		return false
	})
	write("Authorization: Bearer secret\n", 3)
	if err := deliver(t, redirect.url()+"?headers="+file, 1); err == nil || len(target.requests) > 0 {
		t.Errorf("%v; %d requests followed the redirect", err, len(target.requests))
	}
}

// No error contains a secret.
func TestMistakesInURLsAreRefused(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	file := func(name, text string) string {
		name = filepath.Join(folder, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	for url, want := range map[string]string{
		"http://host":                                              "begins with otlp+http:// or otlp+https://",
		"otlp+http://":                                             "is otlp+http://host:4318",
		"otlp+http://user:sec%ret@host":                            "special characters of a password as %40",
		"otlp+http://host#x":                                       "is otlp+http://host:4318",
		"otlp+http://host?compresion=gzip":                         `unknown parameter "compresion"`,
		"otlp+http://host?compression=lz4":                         `compression is "lz4", want one of gzip, zstd, none`,
		"otlp+http://host?timeout=0s":                              `timeout is "0s", want a duration`,
		"otlp+http://host?timeout=1s&timeout=2s":                   "the parameter timeout twice",
		"otlp+http://host?a=%zz":                                   "is not a query",
		"otlp+https://host?cert=a.pem":                             "cert and key belong together",
		"otlp+https://host?ca=" + file("empty", ""):                "contains no certificate",
		"otlp+https://host?cert=/no/a&key=/no/b":                   "no such file",
		"otlp+http://host?headers=/no/file":                        "no such file",
		"otlp+http://host?headers=" + file("h1", "\nsecret"):       "line 2 is not a header field",
		"otlp+http://host?headers=" + file("h2", "x y: secret"):    "line 1 is not a header field",
		"otlp+http://host?headers=" + file("h3", "x: a\x00secret"): "line 1 is not a header field",
		"otlp+http://host?headers=" + file("h4", "host: secret"):   "the field Host cannot be set",
	} {
		d, err := New(url)
		switch {
		case err == nil:
			d.Close()
			t.Errorf("%s is accepted", url)
		case !strings.Contains(err.Error(), want):
			t.Errorf("%s: the error is %q, want %q", url, err, want)
		case strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "sec%ret"):
			t.Errorf("%s: the error %q has the secret", url, err)
		}
	}
}

// TestClientCertificateIsSent delivers to a server that asks for a certificate.
func TestClientCertificateIsSent(t *testing.T) {
	t.Parallel()
	s := startServer(t, nil)
	secure := httptest.NewUnstartedServer(s.Config.Handler)
	secure.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
	secure.StartTLS()
	defer secure.Close()
	folder := t.TempDir()
	pair := secure.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{
		"cert": {Type: "CERTIFICATE", Bytes: pair.Certificate[0]}, "key": {Type: "PRIVATE KEY", Bytes: key},
	} {
		if err := os.WriteFile(filepath.Join(folder, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	url := "otlp+" + secure.URL
	ca := "?ca=" + folder + "/cert"
	if err := deliver(t, url, 3); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("without a certificate of the authority, the error is %v", err)
	}
	// The server may close the connection before the client has read the alert.
	if err := deliver(t, url+ca, 3); err == nil {
		t.Error("a batch was delivered without a certificate of the client")
	}
	if err := deliver(t, url+ca+"&cert="+folder+"/cert&key="+folder+"/key", 3); err != nil || len(s.stored) != 3 {
		t.Errorf("%v; stored %q", err, s.stored)
	}
	if _, err := New(s.url() + ca); err == nil || !strings.Contains(err.Error(), "need otlp+https://") {
		t.Errorf("certificates without TLS: the error is %v", err)
	}
}

// One server does not respond, one closes connections, and the response of one does not end.
func TestStalledServerFailsTheDelivery(t *testing.T) {
	t.Parallel()
	stop := make(chan struct{})
	s := startServer(t, func(w http.ResponseWriter, _ []string) bool {
		<-stop
		return false
	})
	defer close(stop)
	err := deliver(t, s.url()+"?timeout=50ms", 1)
	if err == nil || !strings.Contains(err.Error(), "no response within 50ms") {
		t.Errorf("the error is %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	d, err := New(s.url())
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if err := d.Deliver(ctx, batch(1)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the error is %v", err)
	}
	closing := startServer(t, func(w http.ResponseWriter, _ []string) bool { panic(http.ErrAbortHandler) })
	if err := deliver(t, closing.url(), 1); err == nil {
		t.Error("no error though the connection was closed")
	}
	endless := startServer(t, func(w http.ResponseWriter, _ []string) bool {
		for {
			if _, err := w.Write(make([]byte, 4096)); err != nil {
				return true
			}
		}
	})
	if err := deliver(t, endless.url(), 1); err != nil {
		t.Errorf("the error is %v", err)
	}
	gone := startServer(t, nil)
	gone.Close()
	if err := deliver(t, gone.url(), 1); err == nil || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("the error is %v", err)
	}
}

// The server responds before it has read the request. The memory of the request is not used by two requests at a
// time.
func TestEarlyResponseSharesNoMemory(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTooManyRequests)
	}))
	defer s.Close()
	d, err := New("otlp+" + s.URL + "?compression=none")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for range 20 {
		if err := d.Deliver(t.Context(), batch(50_000)); err == nil {
			t.Error("no error")
		}
	}
}
