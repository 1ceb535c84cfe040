package proxy_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/weirhq/weir/proxy"
)

// get requests a URL, and prints the status and the body of the response.
func get(client *http.Client, url string) {
	r, err := http.NewRequest("GET", url, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	do(client, r)
}

// do sends a request, and prints the status and the body of the response.
func do(client *http.Client, r *http.Request) {
	resp, err := client.Do(r)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	fmt.Println(resp.StatusCode, string(body), err)
}

// serve starts a server that responds with text made of a request.
func serve(text func(*http.Request) string) *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, text(r))
	}))
}

// named starts a server that responds with its name.
func named(name string) *httptest.Server { return serve(func(*http.Request) string { return name }) }

// server sends a request of a user to an upstream, and returns the name of the server that got it.
func server(up *proxy.Upstream, user string) string {
	r, err := http.NewRequest("GET", "http://shop.example/", nil)
	if err != nil {
		return err.Error()
	}
	r.Header.Set("X-User", user)
	resp, err := up.RoundTrip(r)
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err.Error()
	}
	return string(body)
}

// newUpstream returns an upstream. The options of the examples are right.
func newUpstream(options proxy.Options) *proxy.Upstream {
	up, err := proxy.NewUpstream("shop", options)
	if err != nil {
		panic(err)
	}
	return up
}
