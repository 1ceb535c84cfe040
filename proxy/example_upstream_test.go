package proxy_test

import (
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/netip"
	"time"

	"github.com/weirhq/weir/proxy"
)

// The servers of an upstream may change while it is in use.
func ExampleUpstream() {
	a := named("a")
	defer a.Close()
	b := named("b")
	defer b.Close()
	up := newUpstream(proxy.Options{Servers: []proxy.Server{{URL: a.URL}}})
	defer up.Close()
	client := &http.Client{Transport: up}

	get(client, "http://shop.example/")
	if err := up.SetServers([]proxy.Server{{URL: b.URL}}); err != nil {
		fmt.Println(err)
	}
	get(client, "http://shop.example/")
	// Output:
	// 200 a <nil>
	// 200 b <nil>
}

// A server that is silent for too long fails.
func ExampleOptions() {
	silent := serve(func(r *http.Request) string {
		<-r.Context().Done()
		return ""
	})
	defer silent.Close()
	up := newUpstream(proxy.Options{
		Servers:      []proxy.Server{{URL: silent.URL}},
		Timeout:      20 * time.Millisecond,
		ConnectRetry: time.Second,
	})
	defer up.Close()
	door := httptest.NewServer(&proxy.Proxy{Upstream: up})
	defer door.Close()

	get(door.Client(), door.URL)
	// Output:
	// 504 504 Gateway Timeout
	//  <nil>
}

// A server with the weight 3 gets three times as many requests as one with the weight 1. A backup gets none while
// others can be used.
func ExampleServer() {
	large, small, backup := named("large"), named("small"), named("backup")
	defer large.Close()
	defer small.Close()
	defer backup.Close()
	up := newUpstream(proxy.Options{Servers: []proxy.Server{
		{URL: large.URL, Weight: 3}, {URL: small.URL}, {URL: backup.URL, Backup: true},
	}})
	defer up.Close()

	got := map[string]int{}
	for range 4 {
		got[server(up, "ann")]++
	}
	fmt.Println(got)
	// Output: map[large:3 small:1]
}

// The certificate of a server is one of a private authority, for another name than that of the URL.
func ExampleTLS() {
	service := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "hello")
	}))
	defer service.Close()
	roots := x509.NewCertPool()
	roots.AddCert(service.Certificate())
	up := newUpstream(proxy.Options{
		Servers: []proxy.Server{{URL: service.URL}},
		TLS:     proxy.TLS{Roots: roots, Name: "example.com"},
	})
	defer up.Close()

	get(&http.Client{Transport: up}, "https://shop.example/")
	// Output: 200 hello <nil>
}

// LeastConnections prefers servers with fewer requests in flight.
func ExamplePolicy() {
	a, b := named("a"), named("b")
	defer a.Close()
	defer b.Close()
	up := newUpstream(proxy.Options{
		Servers: []proxy.Server{{URL: a.URL}, {URL: b.URL}},
		Balance: proxy.LeastConnections,
	})
	defer up.Close()
	client := &http.Client{Transport: up}

	first, err := client.Get("http://shop.example/") // in flight until its body was read
	if err != nil {
		fmt.Println(err)
		return
	}
	defer first.Body.Close()
	second, third := server(up, "ann"), server(up, "ann")
	body, err := io.ReadAll(first.Body)
	fmt.Println(second == third, second == string(body), err)
	// Output: true false <nil>
}

// All requests of a user are sent to the same server.
func ExampleHashKey() {
	a, b, c := named("a"), named("b"), named("c")
	defer a.Close()
	defer b.Close()
	defer c.Close()
	up := newUpstream(proxy.Options{
		Servers: []proxy.Server{{URL: a.URL}, {URL: b.URL}, {URL: c.URL}},
		Balance: proxy.Hash,
		HashKey: proxy.HashKey{By: proxy.ByHeader, Name: "X-User"},
	})
	defer up.Close()

	for _, user := range []string{"ann", "bob"} {
		got := map[string]bool{}
		for range 5 {
			got[server(up, user)] = true
		}
		fmt.Println(user, len(got))
	}
	// Output:
	// ann 1
	// bob 1
}

// A key of a kind that needs a name must have one.
func ExampleHashBy() {
	for _, by := range []proxy.HashBy{proxy.ByPath, proxy.ByCookie} {
		_, err := proxy.NewUpstream("shop", proxy.Options{Balance: proxy.Hash, HashKey: proxy.HashKey{By: by}})
		fmt.Println(err)
	}
	// Output:
	// <nil>
	// upstream shop: HashKey.Name is "", want the name of a field or cookie
}

// A browser stays at the server that its first request was sent to.
func ExampleSticky() {
	a := named("a")
	defer a.Close()
	b := named("b")
	defer b.Close()
	up := newUpstream(proxy.Options{
		Servers: []proxy.Server{{URL: a.URL}, {URL: b.URL}},
		Sticky:  &proxy.Sticky{Cookie: "server", MaxAge: time.Hour, Secret: []byte("a key that other proxies have too")},
	})
	defer up.Close()
	door := httptest.NewServer(&proxy.Proxy{Upstream: up})
	defer door.Close()

	for range 2 {
		browser := &http.Client{}
		browser.Jar, _ = cookiejar.New(nil)
		get(browser, door.URL)
		get(browser, door.URL)
	}
	// Output:
	// 200 a <nil>
	// 200 a <nil>
	// 200 b <nil>
	// 200 b <nil>
}

// While a server has as many requests as it may have, others fail at once without a queue.
func ExampleLimit() {
	service := serve(func(*http.Request) string { return "hello" })
	defer service.Close()
	up := newUpstream(proxy.Options{
		Servers: []proxy.Server{{URL: service.URL}},
		Limit:   proxy.Limit{Max: 1},
	})
	defer up.Close()
	client := &http.Client{Transport: up}

	first, err := client.Get("http://shop.example/") // in flight until its body is closed
	if err != nil {
		fmt.Println(err)
		return
	}
	defer first.Body.Close()
	_, err = client.Get("http://shop.example/")
	var failure *proxy.Error
	if errors.As(err, &failure) {
		fmt.Println(failure.Kind, failure.Status())
	}
	// Output: queue_full 503
}

// Only a trusted proxy may report the way of a request.
func ExampleTrust() {
	service := serve(func(r *http.Request) string { return r.Header.Get("X-Forwarded-For") })
	defer service.Close()
	up := newUpstream(proxy.Options{Servers: []proxy.Server{{URL: service.URL}}})
	defer up.Close()

	for _, trust := range []proxy.Trust{nil, {netip.MustParsePrefix("127.0.0.0/8")}} {
		door := httptest.NewServer(&proxy.Proxy{Upstream: up, Trust: trust})
		r, _ := http.NewRequest("GET", door.URL, nil)
		r.Header.Set("X-Forwarded-For", "203.0.113.9")
		do(door.Client(), r)
		door.Close()
	}
	// Output:
	// 200 127.0.0.1 <nil>
	// 200 203.0.113.9, 127.0.0.1 <nil>
}
