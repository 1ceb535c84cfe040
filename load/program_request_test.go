package load

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestRequest sends messages by HTTP/2, and looks at what the server sees.
func TestRequest(t *testing.T) {
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
		target Target
		want   seen
	}{
		{Target{URL: server.URL + "/a/../b%2Fc?x=%20&y"}, seen{method: "GET", uri: "/a/../b%2Fc?x=%20&y", host: host}},
		{Target{URL: server.URL + "//two//?"}, seen{method: "GET", uri: "//two//?", host: host}},
		{Target{URL: server.URL}, seen{method: "GET", uri: "/", host: host}},
		{Target{URL: server.URL + "/", Method: "HEAD", Header: []Header{{"Host", "other.example:1"}, {"Connection", "x"}, {"X-Two", "1"}, {"x-two", "2"}}},
			seen{method: "HEAD", uri: "/", host: "other.example:1", header: http.Header{"X-Two": {"1", "2"}}}},
		{Target{URL: server.URL + "/{{seq}}", Body: Body{Text: "a\r\n\r\nb{{seq}}"}}, seen{method: "POST", uri: "/0", host: host, body: "a\r\n\r\nb0", length: 7}},
		{Target{URL: server.URL, Method: "PUT", Body: Body{File: strings.NewReader("abcdef"), Size: 4}}, seen{method: "PUT", uri: "/", host: host, body: "abcd", length: 4}},
		{Target{URL: server.URL, Method: "PUT"}, seen{method: "PUT", uri: "/", host: host}},
	} {
		p, err := compile([]Target{c.target}, false, "")
		if err != nil {
			t.Fatal(err)
		}
		answer, err := transport.RoundTrip(p.script(0, 1, 1).next().request())
		if err != nil {
			t.Errorf("%+v: %v", c.target, err)
			continue
		}
		if err := answer.Body.Close(); err != nil {
			t.Error(err)
		}
		w := c.want
		if got.method != w.method || got.uri != w.uri || got.host != w.host || got.body != w.body || got.length != w.length {
			t.Errorf("%+v\ngot  %+v\nwant %+v", c.target, got, w)
		}
		if agent := got.header.Values("User-Agent"); len(agent) != 1 || agent[0] != "weir-load" {
			t.Errorf("User-Agent %q", agent)
		}
		for name, values := range w.header {
			g := got.header.Values(name)
			if len(g) != len(values) || !strings.Contains(strings.Join(g, " "), values[0]) || !strings.Contains(strings.Join(g, " "), values[1]) {
				t.Errorf("%s: %q, want %q", name, g, values)
			}
		}
		if got.header.Get("Connection") != "" {
			t.Error("Connection was sent by HTTP/2")
		}
	}
}
