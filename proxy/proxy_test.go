package proxy_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/proxying"
	"github.com/weirhq/weir/internal/testkit"
	"github.com/weirhq/weir/proxy"
)

// openUpstream returns an upstream of the servers at the given URLs.
func openUpstream(t testing.TB, options proxy.Options, urls ...string) *proxy.Upstream {
	t.Helper()
	for _, url := range urls {
		options.Servers = append(options.Servers, proxy.Server{URL: url})
	}
	up, err := proxy.NewUpstream("site", options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(up.Close)
	return up
}

// send sends a request and returns the response with its body.
func send(t testing.TB, r *http.Request) (*http.Response, string) {
	t.Helper()
	client := &http.Client{Transport: new(http.Transport), Timeout: patience}
	defer client.CloseIdleConnections()
	return testkit.Do(t, client, r)
}

func newRequest(t testing.TB, method, url, body string) *http.Request {
	t.Helper()
	r, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestErrorHandlerRespondsToFailures checks that ErrorHandler responds to failures, and gets their kind and cause.
func TestErrorHandlerRespondsToFailures(t *testing.T) {
	t.Parallel()
	closes := testkit.Serve(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })).URL
	silent := testkit.Serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body) // net/http notices the end of the connection only after the body
		<-r.Context().Done()
	})).URL
	for _, c := range []struct {
		name    string
		options proxy.Options
		url     string
		kind    proxy.Kind
		status  int
		body    int
	}{
		{"closes", proxy.Options{}, closes, proxy.Closed, 502, 1000},
		{"silent", proxy.Options{Timeout: 500 * time.Millisecond}, silent, proxy.Timeout, 504, 1000},
		{"silent in a try", proxy.Options{Retry: proxy.Retry{TryTimeout: 500 * time.Millisecond}}, silent, proxy.Timeout,
			504, 1000},
		{"refuses", proxy.Options{}, "http://127.0.0.1:1", proxy.Refused, 502, 1_000_000}, // the client is still sending
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			results := make(chan proxy.Result, 1)
			door := testkit.Serve(t, &proxy.Proxy{
				Upstream: openUpstream(t, c.options, c.url),
				ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
					var failure *proxy.Error
					if errors.As(err, &failure) {
						w.WriteHeader(failure.Status())
						fmt.Fprint(w, r.URL.Path, " ", failure.Kind, " ", failure.ByUpstream(), failure.ByClient())
					}
				},
				Done: func(_ *http.Request, result proxy.Result) { results <- result },
			}).URL
			resp, body := send(t, newRequest(t, "POST", door+"/a", strings.Repeat("x", c.body)))
			if want := fmt.Sprint("/a ", c.kind, " true false"); resp.StatusCode != c.status || body != want {
				t.Errorf("the client got %d %q, want %d %q", resp.StatusCode, body, c.status, want)
			}
			result := <-results
			var failure *proxy.Error
			if !errors.As(result.Err, &failure) || failure.Kind != c.kind || result.Status != c.status ||
				result.Server != c.url {
				t.Errorf("the result is %+v", result)
			}
		})
	}
}

func TestSetServersReplacesServers(t *testing.T) {
	t.Parallel()
	name := func(text string) string {
		return testkit.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) })).URL
	}
	up := openUpstream(t, proxy.Options{})
	door := testkit.Serve(t, &proxy.Proxy{Upstream: up}).URL
	if resp, _ := send(t, newRequest(t, "GET", door, "")); resp.StatusCode != 502 {
		t.Errorf("without a server: status %d, want 502", resp.StatusCode)
	}
	for _, text := range []string{"a", "b"} {
		if err := up.SetServers([]proxy.Server{{URL: name(text)}}); err != nil {
			t.Fatal(err)
		}
		if _, body := send(t, newRequest(t, "GET", door, "")); body != text {
			t.Errorf("the request reached %q, want %q", body, text)
		}
	}
	if err := up.SetServers(nil); err == nil {
		t.Error("no error for no server")
	}
}

func TestZeroProxyRespondsWith502(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	if new(proxy.Proxy).ServeHTTP(w, httptest.NewRequest("GET", "/", nil)); w.Code != 502 {
		t.Errorf("status %d, want 502", w.Code)
	}
}

// nowhere is a ResponseWriter that discards the response.
type nowhere struct{ header http.Header }

func (n *nowhere) Header() http.Header         { return n.header }
func (n *nowhere) Write(p []byte) (int, error) { return len(p), nil }
func (n *nowhere) WriteHeader(int)             {}
func (n *nowhere) FlushError() error           { return nil }

// BenchmarkProxy compares a Proxy with that of package proxying. Both send requests to a server in this process, whose
// cost is included.
func BenchmarkProxy(b *testing.B) {
	url := testkit.Serve(b, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "ok") })).URL
	inner, err := proxying.NewUpstream("site", proxying.Options{Servers: []proxying.Endpoint{{URL: url}}})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(inner.Close)
	for name, h := range map[string]http.Handler{
		"proxy": &proxy.Proxy{Upstream: openUpstream(b, proxy.Options{}, url)}, "proxying": &proxying.Proxy{Upstream: inner},
	} {
		b.Run(name, func(b *testing.B) {
			r := httptest.NewRequest("GET", "/", nil)
			w := &nowhere{http.Header{}}
			b.ReportAllocs()
			for b.Loop() {
				clear(w.header)
				h.ServeHTTP(w, r)
			}
		})
	}
}
