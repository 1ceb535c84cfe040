package proxy_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"

	"github.com/weirhq/weir/proxy"
)

// A Proxy is an http.Handler.
func ExampleProxy() {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s for %s", r.URL.Path, r.Header.Get("X-Forwarded-For"))
	}))
	defer service.Close()

	up, err := proxy.NewUpstream("greeter", proxy.Options{Servers: []proxy.Endpoint{{URL: service.URL}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer up.Close()
	door := httptest.NewServer(&proxy.Proxy{
		Upstream: up,
		Hook: func(x *proxy.Exchange, e proxy.Event) {
			if e == proxy.Done {
				fmt.Println(x.Method, x.Target, x.Status, x.BodySent, x.Err)
			}
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
	// GET /hello 200 20 <nil>
	// /hello for 127.0.0.1
}

// Equivalent servers are used in turn, and a server that cannot be reached is
// passed over. A wrong option is an error.
func ExampleNewUpstream() {
	up, err := proxy.NewUpstream("babbage", proxy.Options{
		Servers: []proxy.Endpoint{{URL: "http://10.0.0.1:8080"}, {URL: "http://10.0.0.2:8080"}},
	})
	fmt.Println(up.Name(), err)

	_, err = proxy.NewUpstream("babbage", proxy.Options{Retry: proxy.Retry{Attempts: 9}})
	fmt.Println(err)
	// Output:
	// babbage <nil>
	// upstream babbage: Retry.Attempts is 9, want 0 to 5
}

// Only the part of X-Forwarded-For that a trusted proxy added is used.
func ExampleTrust_Client() {
	trust := proxy.Trust{netip.MustParsePrefix("10.0.0.0/8")}
	header := []proxy.Field{{Name: "X-Forwarded-For", Value: "1.2.3.4, 203.0.113.9, 10.0.0.7"}}

	fmt.Println(trust.Client(netip.MustParseAddr("10.0.0.1"), header))
	fmt.Println(trust.Client(netip.MustParseAddr("198.51.100.5"), header))
	// Output:
	// 203.0.113.9
	// 198.51.100.5
}
