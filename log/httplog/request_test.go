package httplog_test

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/httplog"
)

func TestRequestBecomesFields(t *testing.T) {
	full := httptest.NewRequest("POST", "/a/b%2Fc?q=1&q=%20", strings.NewReader("12345"))
	full.Host, full.RemoteAddr, full.Pattern = "www.example.com:8080", "[2001:db8::1]:41234", "/a/{b}"
	full.Header.Set("User-Agent", "tester/1")
	full.Header.Set("Referer", "http://example.com/")

	secure := httptest.NewRequest("GET", "/", nil)
	secure.TLS, secure.Host, secure.RemoteAddr = &tls.ConnectionState{}, "example.com", "@"

	absolute := httptest.NewRequest("GET", "http://example.com/a%20b?c", nil)
	absolute.RequestURI, absolute.RemoteAddr = "http://example.com/a%20b?c", "192.0.2.1:1"

	stripped := httptest.NewRequest("GET", "/api/x", nil)
	stripped.URL.Path, stripped.RemoteAddr = "/x", ""

	asterisk := httptest.NewRequest("OPTIONS", "/", nil)
	asterisk.RequestURI, asterisk.URL.Path, asterisk.RemoteAddr = "*", "*", ""

	outgoing, err := http.NewRequest("GET", "https://example.com:444/a?b", nil)
	if err != nil {
		t.Fatal(err)
	}
	outgoing.Host = ""
	unknownLength := httptest.NewRequest("POST", "/", nil)
	unknownLength.ContentLength, unknownLength.RemoteAddr = -1, ""

	for name, c := range map[string]struct {
		request *http.Request
		want    log.HTTP
	}{
		"full": {full, log.HTTP{
			Method: "POST", Scheme: "http", Host: "www.example.com", Port: 8080, Path: "/a/b%2Fc", Query: "q=1&q=%20",
			Route: "/a/{b}", Client: "2001:db8::1", Protocol: "HTTP/1.1", UserAgent: "tester/1",
			Referer: "http://example.com/", RequestContentLength: 5,
		}},
		"secure": {secure, log.HTTP{Method: "GET", Scheme: "https", Host: "example.com", Path: "/", Client: "@",
			Protocol: "HTTP/1.1"}},
		"absolute": {absolute, log.HTTP{Method: "GET", Scheme: "http", Host: "example.com", Path: "/a%20b",
			Query: "c", Client: "192.0.2.1", Protocol: "HTTP/1.1"}},
		"stripped": {stripped, log.HTTP{Method: "GET", Scheme: "http", Host: "example.com", Path: "/api/x",
			Protocol: "HTTP/1.1"}},
		"asterisk": {asterisk, log.HTTP{Method: "OPTIONS", Scheme: "http", Host: "example.com", Path: "*",
			Protocol: "HTTP/1.1"}},
		"outgoing": {outgoing, log.HTTP{Method: "GET", Scheme: "https", Host: "example.com", Port: 444,
			Path: "/a", Query: "b", Protocol: "HTTP/1.1"}},
		"unknown length": {unknownLength, log.HTTP{Method: "POST", Scheme: "http", Host: "example.com", Path: "/",
			Protocol: "HTTP/1.1"}},
	} {
		if got := httplog.Request(c.request); got != c.want {
			t.Errorf("%s: got  %+v\nwant %+v", name, got, c.want)
		}
	}
}
