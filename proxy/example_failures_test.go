package proxy_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/weirhq/weir/proxy"
)

// busyAndIdle starts a server that responds with 503, and one that works.
func busyAndIdle() (busy, idle *httptest.Server) {
	busy = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	return busy, serve(func(*http.Request) string { return "hello" })
}

// A request that a busy server has refused is sent to another one.
func ExampleRetry() {
	busy, idle := busyAndIdle()
	defer busy.Close()
	defer idle.Close()
	up := newUpstream(proxy.Options{
		Servers: []proxy.Server{{URL: busy.URL}, {URL: idle.URL}},
		Retry:   proxy.Retry{Attempts: 2, On: []proxy.RetryReason{proxy.Retry503}},
	})
	defer up.Close()

	get(&http.Client{Transport: up}, "http://shop.example/")
	// Output: 200 hello <nil>
}

// Done learns why a request was sent again.
func ExampleRetryReason() {
	busy, idle := busyAndIdle()
	defer busy.Close()
	defer idle.Close()
	up := newUpstream(proxy.Options{
		Servers: []proxy.Server{{URL: busy.URL}, {URL: idle.URL}},
		Retry:   proxy.Retry{On: []proxy.RetryReason{proxy.Retry503}},
	})
	defer up.Close()
	p := &proxy.Proxy{Upstream: up, Done: func(_ *http.Request, result proxy.Result) {
		fmt.Println(result.Retried == proxy.Retry503, result.Status)
	}}

	p.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
	// Output: true 200
}

// A Result has what a log or a metric needs.
func ExampleResult() {
	service := serve(func(*http.Request) string { return "hello" })
	defer service.Close()
	up := newUpstream(proxy.Options{Servers: []proxy.Server{{URL: service.URL}}})
	defer up.Close()
	p := &proxy.Proxy{Upstream: up, Done: func(r *http.Request, result proxy.Result) {
		fmt.Println(r.URL.Path, result.Status, result.Server == service.URL, result.Waited > 0, result.Err)
	}}

	p.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/orders", nil))
	// Output: /orders 200 true true <nil>
}

// ErrorHandler responds with a page of the service, and with the status that suits the failure.
func ExampleError() {
	up := newUpstream(proxy.Options{Servers: []proxy.Server{{URL: "http://127.0.0.1:1"}}}) // where nobody listens
	defer up.Close()
	door := httptest.NewServer(&proxy.Proxy{
		Upstream: up,
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			var failure *proxy.Error
			if errors.As(err, &failure) {
				fmt.Println(failure.Server, failure.Step, failure.ByUpstream())
				w.WriteHeader(failure.Status())
				fmt.Fprint(w, "The shop is closed.")
			}
		},
	})
	defer door.Close()

	get(door.Client(), door.URL)
	// Output:
	// 127.0.0.1:1 connecting true
	// 502 The shop is closed. <nil>
}

// The kind of a failure is a word for the label of a metric.
func ExampleKind() {
	up := newUpstream(proxy.Options{Servers: []proxy.Server{{URL: "http://127.0.0.1:1"}}}) // where nobody listens
	defer up.Close()
	failures := map[proxy.Kind]int{}
	p := &proxy.Proxy{Upstream: up, Done: func(_ *http.Request, result proxy.Result) {
		var failure *proxy.Error
		if errors.As(result.Err, &failure) {
			failures[failure.Kind]++
		}
	}}

	p.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
	fmt.Println(failures)
	// Output: map[refused:1]
}
