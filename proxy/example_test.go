package proxy_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/weirhq/weir/proxy"
)

// A Proxy is an http.Handler.
func ExampleProxy() {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s for %s", r.URL.Path, r.Header.Get("X-Forwarded-For"))
	}))
	defer service.Close()

	up, err := proxy.NewUpstream("greeter", proxy.Options{Servers: []proxy.Server{{URL: service.URL}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer up.Close()
	door := httptest.NewServer(&proxy.Proxy{
		Upstream: up,
		Done: func(r *http.Request, result proxy.Result) {
			fmt.Println(r.Method, r.URL, result.Status, result.Server == service.URL, result.Err)
		},
	})
	defer door.Close()

	client := door.Client()
	resp, err := client.Get(door.URL + "/hello")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	fmt.Println(string(body))
	// Output:
	// GET /hello 200 true <nil>
	// /hello for 127.0.0.1
}

// Equivalent servers are used in turn, and a server that cannot be reached is
// passed over. A wrong option is an error.
func ExampleNewUpstream() {
	_, err := proxy.NewUpstream("babbage", proxy.Options{
		Servers: []proxy.Server{{URL: "http://10.0.0.1:8080"}, {URL: "http://10.0.0.2:8080"}},
	})
	fmt.Println(err)

	_, err = proxy.NewUpstream("babbage", proxy.Options{Retry: proxy.Retry{Attempts: 9}})
	fmt.Println(err)
	// Output:
	// <nil>
	// upstream babbage: Retry.Attempts is 9, want 0 to 5
}
