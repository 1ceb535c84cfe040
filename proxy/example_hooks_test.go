package proxy_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"strconv"
	"strings"

	"github.com/weirhq/weir/proxy"
)

// Rewrite changes the request for the upstream. It has the type of the field of httputil.ReverseProxy.
func ExampleProxy_rewrite() {
	service := serve(func(r *http.Request) string { return r.URL.String() + " for " + r.Header.Get("X-Tenant") })
	defer service.Close()
	up := newUpstream(proxy.Options{Servers: []proxy.Server{{URL: service.URL}}})
	defer up.Close()
	door := httptest.NewServer(&proxy.Proxy{Upstream: up, Rewrite: func(r *httputil.ProxyRequest) {
		tenant, path, _ := strings.Cut(strings.TrimPrefix(r.In.URL.Path, "/"), "/")
		r.Out.URL.Path = "/v2/" + path
		r.Out.Header.Set("X-Tenant", tenant)
	}})
	defer door.Close()

	get(door.Client(), door.URL+"/acme/orders?open=1")
	// Output: 200 /v2/orders?open=1 for acme <nil>
}

// ModifyResponse changes the response of the upstream.
func ExampleProxy_modifyResponse() {
	service := serve(func(*http.Request) string { return "price: 7 EUR" })
	defer service.Close()
	up := newUpstream(proxy.Options{Servers: []proxy.Server{{URL: service.URL}}})
	defer up.Close()
	door := httptest.NewServer(&proxy.Proxy{Upstream: up, ModifyResponse: func(resp *http.Response) error {
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			return err
		}
		body = bytes.ReplaceAll(body, []byte("EUR"), []byte("€"))
		resp.Body = io.NopCloser(bytes.NewReader(body))
		resp.Header.Set("Content-Length", strconv.Itoa(len(body)))
		return nil
	}})
	defer door.Close()

	get(door.Client(), door.URL)
	// Output: 200 price: 7 € <nil>
}

// An Upstream is an http.RoundTripper. The requests of a client are spread over its servers.
func ExampleUpstream_RoundTrip() {
	a := serve(func(r *http.Request) string { return "a got " + r.Host + r.URL.Path })
	defer a.Close()
	b := serve(func(r *http.Request) string { return "b got " + r.Host + r.URL.Path })
	defer b.Close()
	up := newUpstream(proxy.Options{Servers: []proxy.Server{{URL: a.URL}, {URL: b.URL}}})
	defer up.Close()

	client := &http.Client{Transport: up}
	get(client, "http://api.example/orders")
	get(client, "http://api.example/orders")
	// Output:
	// 200 a got api.example/orders <nil>
	// 200 b got api.example/orders <nil>
}
