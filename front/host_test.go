package front_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/weirhq/weir/front/config"
)

// TestValidHostsReachTheUpstream sends all kinds of hosts, in the Host field and as :authority of
// HTTP/2. Accepted ones reach the upstream unchanged.
func TestValidHostsReachTheUpstream(t *testing.T) {
	t.Parallel()
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) { w.Header().Set("X-Host", r.Host) })
	d := openDoor(t, back.URL)
	for _, c := range []struct {
		host string
		want int
	}{
		{"example.com", 200},
		{"EXAMPLE.com", 200},
		{"example.com.", 200},
		{"my_host-1.example:65535", 200},
		{"127.0.0.1:20000", 200},
		{"[::1]", 200},
		{"[2001:db8::1]:8080", 200},
		{"[::ffff:192.0.2.1]", 200},
		{"", 400},
		{"a,b", 400},
		{"a, b", 400},
		{"a b", 400},
		{"user@example.com", 400},
		{"@", 400},
		{".", 400},
		{".example.com", 400},
		{"a..b", 400},
		{"a/b", 400},
		{"a\\b", 400},
		{"a?b", 400},
		{"a#b", 400},
		{"%41.example", 400},
		{"exämple.com", 400},
		{"example.com:", 400},
		{":80", 400},
		{"example.com:0", 400},
		{"example.com:65536", 400},
		{"example.com:080000", 400},
		{"example.com:8a", 400},
		{"example.com:-1", 400},
		{"example.com:80:80", 400},
		{"::1", 400},
		{"[::1", 400},
		{"[]", 400},
		{"[127.0.0.1]", 400},
		{"[::1]80", 400},
		{"[::1]:", 400},
		{"[fe80::1%25eth0]", 400},
		{"[fe80::1%eth0]", 400},
		{"[::g]", 400},
		{strings.Repeat("a", 256), 400},
	} {
		resp, _ := ask(t, d.addr, fmt.Sprintf("GET / HTTP/1.1\r\nHost: %s\r\n\r\n", c.host))
		if resp.StatusCode != c.want {
			t.Errorf("Host %q: %d, want %d", c.host, resp.StatusCode, c.want)
		}
		if got := resp.Header.Get("X-Host"); c.want == 200 && got != c.host {
			t.Errorf("Host %q reached the upstream as %q", c.host, got)
		}
	}
	for name, raw := range map[string]string{
		"none":           "GET / HTTP/1.1\r\n\r\n",
		"two":            "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n",
		"none, HTTP/1.0": "GET / HTTP/1.0\r\n\r\n",
		"space before":   "GET / HTTP/1.1\r\nHost : a\r\n\r\n",
		"folded":         "GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n",
	} {
		if resp, _ := ask(t, d.addr, raw); resp.StatusCode != 400 {
			t.Errorf("%s: %d, want 400", name, resp.StatusCode)
		}
	}
}

// TestDifferentHTTP2HostsAreRefused sends an :authority and a Host that differ, as in a
// translated or forged request.
func TestDifferentHTTP2HostsAreRefused(t *testing.T) {
	t.Parallel()
	back := upstream(t, hello)
	d := openDoor(t, back.URL)
	for _, c := range []struct {
		authority, host string
		want            int
	}{
		{"example.com", "", 200},
		{"", "example.com", 200},
		{"example.com", "example.com", 200},
		{"example.com", "other.com", 400},
		{"a..b", "", 400},
	} {
		h2 := dialHTTP2(t, d.addr)
		fields := []string{":method", "GET", ":scheme", "http", ":path", "/"}
		if c.authority != "" {
			fields = append(fields, ":authority", c.authority)
		}
		if c.host != "" {
			fields = append(fields, "host", c.host)
		}
		if got := h2.get(fields...); got != c.want {
			t.Errorf(":authority %q and Host %q: %d, want %d", c.authority, c.host, got, c.want)
		}
	}
}

// TestAbsoluteTargetMustNameTheHost sends a host in the target and in the Host field. The
// request passes only if they are equal, however its bytes are split.
func TestAbsoluteTargetMustNameTheHost(t *testing.T) {
	t.Parallel()
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Got", r.Host+" "+r.RequestURI)
	})
	d := openDoor(t, back.URL)
	for _, c := range []struct {
		target, host string
		got          string // at the upstream; "" for a refusal
	}{
		{"http://a.example/x?y=z", "a.example", "a.example /x?y=z"},
		{"http://a.example", "a.example", "a.example /"},
		{"http://a.example?q", "a.example", "a.example /?q"},
		{"http://a.example:81/", "a.example:81", "a.example:81 /"},
		{"http://A.example/", "a.example", "a.example /"},
		{"http://a.example:80/x", "a.example", "a.example /x"},
		{"http://a.example/x", "a.example:80", "a.example:80 /x"},
		{"http://a.example/x", "b.example", ""},
		{"http://a.example/x", "a.example:443", ""},
		{"http://a.example/x", "", ""},
		{"http://u@a.example/x", "a.example", ""},
		{"http://u@a.example/x", "u@a.example", ""},
		{"https://a.example/x", "a.example", ""},
		{"ftp://a.example/x", "a.example", ""},
		{"http:///x", "a.example", ""},
		{"http:x", "a.example", ""},
	} {
		for name, send := range deliveries {
			conn := dial(t, d.addr)
			send(conn, fmt.Sprintf("GET %s HTTP/1.1\r\nHost: %s\r\n\r\n", c.target, c.host))
			resp, _ := conn.response("GET")
			want := 200
			if c.got == "" {
				want = 400
			}
			if resp.StatusCode != want || want == 200 && resp.Header.Get("X-Got") != c.got {
				t.Errorf("%s with Host %q, %s: %d and %q, want %d and %q", c.target, c.host, name,
					resp.StatusCode, resp.Header.Get("X-Got"), want, c.got)
			}
		}
	}
}

// deliveries are ways in which the bytes of a request arrive.
var deliveries = map[string]func(c *rawConn, request string){
	"at once": func(c *rawConn, request string) {
		c.send(request)
	},
	"byte by byte": func(c *rawConn, request string) {
		for i := range len(request) {
			c.send(request[i : i+1])
		}
	},
	"behind a response": func(c *rawConn, request string) {
		c.send("GET /first HTTP/1.1\r\nHost: first\r\n\r\n")
		c.response("GET")
		c.send(request)
	},
	"behind a body that looks like it": func(c *rawConn, request string) {
		target := strings.Fields(request)[1]
		body := "GET " + target + " HTTP/1.1\r\nHost: a.example\r\n\r\n"
		c.send(fmt.Sprintf("POST /first HTTP/1.1\r\nHost: first\r\nContent-Length: %d\r\n\r\n", len(body)))
		c.send(body)
		c.response("POST")
		c.send(request)
	},
	"behind a short body": func(c *rawConn, request string) {
		c.send("POST /first HTTP/1.1\r\nHost: first\r\nContent-Length: 1\r\n\r\n")
		c.send("x")
		c.response("POST")
		c.send(request)
	},
	"pipelined": func(c *rawConn, request string) {
		c.send("GET /first HTTP/1.1\r\nHost: first\r\n\r\n" + request)
		c.response("GET")
	},
}

// TestUnknownHostGets404 has patterns for only one host.
func TestUnknownHostGets404(t *testing.T) {
	t.Parallel()
	back := upstream(t, hello)
	d := openDoor(t, back.URL, func(c *config.Config) {
		c.Routes = []config.Route{config.DefaultRoute("example.com/{path...}", "site")}
	})
	for host, want := range map[string]int{
		"example.com":       200,
		"EXAMPLE.com:20000": 200,
		"example.org":       404,
		"www.example.com":   404,
		"127.0.0.1":         404,
	} {
		if resp, _ := ask(t, d.addr, "GET / HTTP/1.1\r\nHost: "+host+"\r\n\r\n"); resp.StatusCode != want {
			t.Errorf("Host %s: %d, want %d", host, resp.StatusCode, want)
		}
	}
}
