package program

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/weirhq/weir/load/target"
)

// TestHTTP2RequestsMatchTheirMessages sends messages by HTTP/2, and checks the requests that the server receives.
func TestHTTP2RequestsMatchTheirMessages(t *testing.T) {
	type seen struct {
		method, uri, host, body string
		length                  int64
		header                  http.Header
	}
	var got seen
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if r.ProtoMajor != 2 {
			t.Errorf("%s was spoken", r.Proto)
		}
		got = seen{r.Method, r.RequestURI, r.Host, string(body), r.ContentLength, r.Header}
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	transport := server.Client().Transport

	host := strings.TrimPrefix(server.URL, "https://")
	for _, c := range []struct {
		target target.Target
		want   seen
	}{
		{target.Target{URL: server.URL + "/a/../b%2Fc?x=%20&y"}, seen{method: "GET", uri: "/a/../b%2Fc?x=%20&y",
			host: host}},
		{target.Target{URL: server.URL + "//two//?"}, seen{method: "GET", uri: "//two//?", host: host}},
		{target.Target{URL: server.URL}, seen{method: "GET", uri: "/", host: host}},
		{target.Target{URL: server.URL + "/", Method: "HEAD",
			Header: []target.Header{{Name: "Host", Value: "other.example:1"}, {Name: "Connection", Value: "x"},
				{Name: "X-Two", Value: "1"}, {Name: "x-two", Value: "2"}}},
			seen{method: "HEAD", uri: "/", host: "other.example:1", header: http.Header{"X-Two": {"1", "2"}}}},
		{target.Target{URL: server.URL + "/{{seq}}", Body: target.Body{Text: "a\r\n\r\nb{{seq}}"}},
			seen{method: "POST", uri: "/0", host: host, body: "a\r\n\r\nb0", length: 7}},
		{target.Target{URL: server.URL, Method: "PUT", Body: target.Body{File: strings.NewReader("abcdef"), Size: 4}},
			seen{method: "PUT", uri: "/", host: host, body: "abcd", length: 4}},
		{target.Target{URL: server.URL, Method: "PUT"}, seen{method: "PUT", uri: "/", host: host}},
	} {
		p, err := Compile([]target.Target{c.target}, false, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := transport.RoundTrip(p.Script(1).Next().Request(false))
		if err != nil {
			t.Errorf("%+v: %v", c.target, err)
			continue
		}
		if err := answer.Body.Close(); err != nil {
			t.Error(err)
		}
		w := c.want
		if got.method != w.method || got.uri != w.uri || got.host != w.host || got.body != w.body ||
			got.length != w.length {
			t.Errorf("%+v\ngot  %+v\nwant %+v", c.target, got, w)
		}
		if agent := got.header.Values("User-Agent"); len(agent) != 1 || agent[0] != "weir-load" {
			t.Errorf("User-Agent %q", agent)
		}
		for name, values := range w.header {
			g := got.header.Values(name)
			if len(g) != len(values) || !strings.Contains(strings.Join(g, " "), values[0]) ||
				!strings.Contains(strings.Join(g, " "), values[1]) {
				t.Errorf("%s: %q, want %q", name, g, values)
			}
		}
		if got.header.Get("Connection") != "" {
			t.Error("Connection was sent by HTTP/2")
		}
	}
}
