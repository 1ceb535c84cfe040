package front_test

import (
	"net/http"
	"testing"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/feature/respond"
)

// TestAmbiguousHTTP2RequestsAreRefused sends heads that would be a different request,
// or several, in HTTP/1. They are refused or their stream is reset, without a
// connection to the upstream.
func TestAmbiguousHTTP2RequestsAreRefused(t *testing.T) {
	t.Parallel()
	back := openRecorder(t)
	d := openDoor(t, "http://"+back.addr)
	get := []string{":method", "GET", ":scheme", "http", ":authority", "a", ":path", "/"}
	with := func(fields ...string) []string { return append(get[:len(get):len(get)], fields...) }
	for _, c := range []struct {
		name   string
		fields []string
	}{
		{"another Host", with("host", "b")},
		{"two Hosts, one another", with("host", "a", "host", "b")},
		{"two equal Hosts", []string{":method", "GET", ":scheme", "http", ":path", "/", "host", "a", "host", "a"}},
		{"no host at all", []string{":method", "GET", ":scheme", "http", ":path", "/"}},
		{"authority with userinfo", []string{":method", "GET", ":scheme", "http", ":authority", "u@a", ":path", "/"}},
		{"authority with a path", []string{":method", "GET", ":scheme", "http", ":authority", "a/b", ":path", "/"}},
		{"authority with a line's end",
			[]string{":method", "GET", ":scheme", "http", ":authority", "a\r\nX: y", ":path", "/"}},
		{"authority twice", with(":authority", "a")},
		{"path twice", with(":path", "/b")},
		{"path without a slash", []string{":method", "GET", ":scheme", "http", ":authority", "a", ":path", "b"}},
		{"empty path", []string{":method", "GET", ":scheme", "http", ":authority", "a", ":path", ""}},
		{"path that is a URL", []string{":method", "GET", ":scheme", "http", ":authority", "a", ":path", "http://b/"}},
		{"path with a space", []string{":method", "GET", ":scheme", "http", ":authority", "a", ":path", "/ HTTP/1.1"}},
		{"query with a space", []string{":method", "GET", ":scheme", "http", ":authority", "a", ":path", "/?a HTTP/1.1"}},
		{"query with a tab", []string{":method", "GET", ":scheme", "http", ":authority", "a", ":path", "/?a\tb"}},
		{"scheme with a space", []string{":method", "GET", ":scheme", "http x", ":authority", "a", ":path", "/"}},
		{"path with a request in it",
			[]string{":method", "GET", ":scheme", "http", ":authority", "a", ":path", "/ HTTP/1.1\r\nHost: b\r\n\r\nGET /b"}},
		{"path with a fragment", []string{":method", "GET", ":scheme", "http", ":authority", "a", ":path", "/#b"}},
		{"method with a space",
			[]string{":method", "GET /b HTTP/1.1\r\nX:", ":scheme", "http", ":authority", "a", ":path", "/"}},
		{"empty method", []string{":method", "", ":scheme", "http", ":authority", "a", ":path", "/"}},
		{"unknown pseudo-header", with(":protocol", "websocket")},
		{"pseudo-header behind a field",
			[]string{":method", "GET", ":scheme", "http", "x", "y", ":authority", "a", ":path", "/"}},
		{"connection", with("connection", "close")},
		{"keep-alive", with("keep-alive", "timeout=5")},
		{"proxy-connection", with("proxy-connection", "keep-alive")},
		{"upgrade", with("upgrade", "websocket")},
		{"transfer-encoding", with("transfer-encoding", "chunked")},
		{"te of more than trailers", with("te", "trailers, deflate")},
		{"value with CR and LF", with("x", "y\r\nTransfer-Encoding: chunked")},
		{"value with LF", with("x", "y\nz: a")},
		{"value with a NUL", with("x", "y\x00z")},
		{"name with a colon", with("x: y\r\nz", "a")},
		{"name with a space", with("x y", "z")},
		{"name in capitals", with("X", "y")},
		{"empty name", with("", "y")},
		{"length without a body", with("content-length", "5")},
		{"length that is none", with("content-length", "+0")},
		{"two lengths", with("content-length", "0", "content-length", "5")},
	} {
		t.Run(c.name, func(t *testing.T) {
			h2 := dialHTTP2(t, d.addr)
			if status := h2.get(c.fields...); status != 400 && status != 0 {
				t.Errorf("answered %d, want 400 or a reset", status)
			}
			if got, accepted := back.take(); accepted != 0 {
				t.Errorf("the upstream was dialled, and got %q", got)
			}
		})
	}
}

// TestBlankInQueryIsRefused sends queries with blanks, which cannot be a part of a target in HTTP/1, to a
// route that forwards nothing.
func TestBlankInQueryIsRefused(t *testing.T) {
	t.Parallel()
	fixed := config.DefaultRoute("/fixed", "")
	fixed.Respond = &respond.Config{Status: 200}
	d := openHTTP3Door(t, upstream(t, hello).URL, func(c *config.Config) { c.Routes = append(c.Routes, fixed) })
	for _, path := range []string{"/fixed?a b", "/fixed?a\tb", "/fixed?a "} {
		h2 := dialHTTP2(t, d.addr)
		if status := h2.get(":method", "GET", ":scheme", "http", ":authority", "a", ":path", path); status != 400 {
			t.Errorf("HTTP/2, %q: answered %d, want 400", path, status)
		}
	}
	req, err := http.NewRequest("GET", "https://localhost/fixed", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.URL.RawQuery = "a b"
	if resp, _ := do(t, d.http3Client(t), req); resp.StatusCode != 400 {
		t.Errorf("HTTP/3: answered %d, want 400", resp.StatusCode)
	}
}

// TestWrongHTTP2LengthsAreRefused sends bodies that are longer or shorter than their
// content-length. The upstream gets no request that looks complete.
func TestWrongHTTP2LengthsAreRefused(t *testing.T) {
	t.Parallel()
	back := openRecorder(t)
	d := openDoor(t, "http://"+back.addr)
	for _, c := range []struct{ length, body string }{
		{"1", "GET /b HTTP/1.1\r\nHost: b\r\n\r\n"},
		{"0", "GET /b HTTP/1.1\r\nHost: b\r\n\r\n"},
		{"100", "short"},
	} {
		h2 := dialHTTP2(t, d.addr)
		stream := h2.begin(false, ":method", "POST", ":scheme", "http", ":authority", "a", ":path", "/", "content-length",
			c.length)
		if err := h2.framer.WriteData(stream, true, []byte(c.body)); err != nil {
			t.Fatal(err)
		}
		if status, _ := h2.finish(stream); status != 400 && status != 0 {
			if got, _ := back.take(); c.length != "0" || requestsIn(got) != 1 {
				t.Errorf("length %s and %d bytes: answered %d, upstream %q", c.length, len(c.body), status, got)
			}
		}
	}
}
