package front_test

import (
	"crypto/x509"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/feature/cors"
	"github.com/weirhq/weir/front/feature/edits"
	"github.com/weirhq/weir/front/feature/httpsredirect"
	"github.com/weirhq/weir/front/secure"
	"github.com/weirhq/weir/internal/certtest"
)

// plainRequest returns the status and the Location of the response to a request without TLS.
func plainRequest(t *testing.T, d *testDoor, head string) (int, string) {
	t.Helper()
	c := dial(t, d.addr)
	c.send(head)
	method, _, _ := strings.Cut(head, " ")
	resp, _ := c.response(method)
	return resp.StatusCode, resp.Header.Get("Location")
}

func TestPlainRequestIsRedirectedToHTTPS(t *testing.T) {
	t.Parallel()
	back := upstream(t, hello)
	secure := func(port int) func(*config.Config) {
		return func(c *config.Config) {
			c.TLS = tlsConfig(t, "shop.example")
			c.TLS.HTTPS.Redirect = port
			c.Routes = append(c.Routes, config.Route{Match: "/healthz", To: "site", PlainHTTP: true, Timeout: time.Minute})
		}
	}
	d := openDoor(t, back.URL, secure(443), func(c *config.Config) {
		c.TrustedProxies = parsePrefixes(t, "127.0.0.1/32")
	})
	for _, c := range []struct{ name, head, want string }{
		{"a path", "GET /a HTTP/1.1\r\nHost: shop.example\r\n\r\n", "https://shop.example/a"},
		{"a query", "GET /a?b=c%20d&e HTTP/1.1\r\nHost: shop.example\r\n\r\n", "https://shop.example/a?b=c%20d&e"},
		{"bytes outside of ASCII", "GET /\xc3\xa9?\xff%41 HTTP/1.1\r\nHost: shop.example\r\n\r\n",
			"https://shop.example/%C3%A9?%FF%41"},
		{"a port", "GET / HTTP/1.1\r\nHost: Shop.example:8080\r\n\r\n", "https://Shop.example/"},
		{"an address of IPv6", "GET / HTTP/1.1\r\nHost: [::1]:80\r\n\r\n", "https://[::1]/"},
		{"an absolute target", "GET http://shop.example/a HTTP/1.1\r\nHost: shop.example\r\n\r\n", "https://shop.example/a"},
		{"a path of two slashes", "GET //evil.example HTTP/1.1\r\nHost: shop.example\r\n\r\n",
			"https://shop.example//evil.example"},
		{"a body", "POST /a HTTP/1.1\r\nHost: shop.example\r\nContent-Length: 2\r\n\r\nab", "https://shop.example/a"},
		{"HEAD", "HEAD /a HTTP/1.1\r\nHost: shop.example\r\n\r\n", "https://shop.example/a"},
		{"plain http at a trusted proxy", "GET /a HTTP/1.1\r\nHost: shop.example\r\nX-Forwarded-Proto: http\r\n\r\n",
			"https://shop.example/a"},
		{"a WebSocket without TLS at a trusted proxy", "GET /a HTTP/1.1\r\nHost: shop.example\r\nX-Forwarded-Proto: ws\r\n\r\n",
			"https://shop.example/a"},
		{"a scheme that the client has invented", "GET /a HTTP/1.1\r\nHost: shop.example\r\nX-Forwarded-For: 192.0.2.1\r\n" +
			"X-Forwarded-Proto: https, http\r\n\r\n", "https://shop.example/a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if status, location := plainRequest(t, d, c.head); status != 308 || location != c.want {
				t.Errorf("%d, Location: %s, want 308 and %s", status, location, c.want)
			}
		})
	}
	for _, c := range []struct {
		name, head string
		want       int
	}{
		{"a route that is excepted", "GET /healthz HTTP/1.1\r\nHost: shop.example\r\n\r\n", 200},
		{"https at a trusted proxy", "GET /a HTTP/1.1\r\nHost: shop.example\r\nX-Forwarded-Proto: https\r\n\r\n", 200},
		{"a WebSocket over TLS at a trusted proxy", "GET /a HTTP/1.1\r\nHost: shop.example\r\nX-Forwarded-Proto: wss\r\n\r\n", 200},
		{"https at the first of two trusted proxies", "GET /a HTTP/1.1\r\nHost: shop.example\r\n" +
			"X-Forwarded-For: 192.0.2.1, 127.0.0.1\r\nX-Forwarded-Proto: https, http\r\n\r\n", 200},
		{"no host", "GET /a HTTP/1.0\r\n\r\n", 400},
		{"the server as a whole", "OPTIONS * HTTP/1.1\r\nHost: shop.example\r\n\r\n", 204},
	} {
		t.Run(c.name, func(t *testing.T) {
			if status, location := plainRequest(t, d, c.head); status != c.want || location != "" {
				t.Errorf("%d, Location: %s, want %d", status, location, c.want)
			}
		})
	}
	if _, err := d.Reload(doorConfig(back.URL, secure(8443))); err != nil {
		t.Fatal(err)
	}
	if status, location := plainRequest(t, d, "GET /a HTTP/1.1\r\nHost: shop.example:8080\r\n\r\n"); status != 308 ||
		location != "https://shop.example:8443/a" {
		t.Errorf("another port: %d, Location: %s", status, location)
	}
}

// TestRedirectToHTTPSHasFieldsOfTheRoute checks that response_headers and cors apply to the redirect: a page whose
// request is redirected may read the response only if each of the responses allows it.
func TestRedirectToHTTPSHasFieldsOfTheRoute(t *testing.T) {
	t.Parallel()
	set := func(value string) edits.Config {
		return edits.Config{Set: []edits.Field{{Name: "X-Frame-Options", Value: value}}}
	}
	d := openDoor(t, upstream(t, hello).URL, func(c *config.Config) {
		c.TLS = tlsConfig(t, "shop.example")
		c.TLS.HTTPS.Redirect = 443
		c.ResponseHeaders = set("DENY")
		r := config.DefaultRoute("/users/{id}", "site")
		r.ResponseHeaders = set("{id}")
		r.CORS = &cors.Config{Origins: []string{"https://a.example"}}
		c.Routes = []config.Route{r}
	})
	for path, want := range map[string][2]string{"/users/7": {"7", "https://a.example"}, "/": {"DENY", ""}} {
		resp, _ := ask(t, d.addr, "GET "+path+" HTTP/1.1\r\nHost: shop.example\r\nOrigin: https://a.example\r\n\r\n")
		got := [2]string{resp.Header.Get("X-Frame-Options"), resp.Header.Get("Access-Control-Allow-Origin")}
		if resp.StatusCode != 308 || got != want {
			t.Errorf("%s: %d with %q, want %q", path, resp.StatusCode, got, want)
		}
	}
}

// TestHostWithCertificateRuleRedirects checks that such a host redirects, too: a client
// without TLS gets no other response from it.
func TestHostWithCertificateRuleRedirects(t *testing.T) {
	t.Parallel()
	staff := certtest.Root(t, "staff")
	d := openTLSDoor(t, upstream(t, hello).URL, func(c *config.Config) {
		c.TLS.HTTPS.Redirect = 443
		c.TLS.ClientCertificates = []secure.ClientCertificates{
			{Hosts: []string{"admin.example"}, Roots: []*x509.Certificate{staff.Cert}}}
		c.Routes[0].PlainHTTP = true
	})
	if status, location := plainRequest(t, d.testDoor, "GET / HTTP/1.1\r\nHost: admin.example\r\n\r\n"); status != 308 {
		t.Errorf("%d, Location: %s", status, location)
	}
}

func TestHSTSIsSentOverTLSOnly(t *testing.T) {
	t.Parallel()
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Strict-Transport-Security", "max-age=1")
	})
	for _, c := range []struct {
		hsts httpsredirect.HSTS
		want string
	}{
		{httpsredirect.HSTS{MaxAge: 365 * 24 * time.Hour}, "max-age=31536000"},
		{httpsredirect.HSTS{MaxAge: time.Hour, Subdomains: true}, "max-age=3600; includeSubDomains"},
		{httpsredirect.HSTS{MaxAge: 365 * 24 * time.Hour, Subdomains: true, Preload: true},
			"max-age=31536000; includeSubDomains; preload"},
		{httpsredirect.HSTS{}, "max-age=0"},
	} {
		d := openTLSDoor(t, back.URL, func(cfg *config.Config) { cfg.TLS.HTTPS.HSTS = &c.hsts })
		for _, path := range []string{"/", "/../a"} {
			resp, _ := d.ask(t, d.client("localhost"), "GET "+path+" HTTP/1.1\r\nHost: localhost\r\n\r\n")
			if got := resp.Header.Values("Strict-Transport-Security"); len(got) != 1 || got[0] != c.want {
				t.Errorf("%s: %d with %q, want %q once", path, resp.StatusCode, got, c.want)
			}
		}
		resp, _ := get(t, httpClient(t), d.url("/"))
		if got := resp.Header.Get("Strict-Transport-Security"); got == c.want {
			t.Errorf("without TLS: %q", got)
		}
		d.close()
	}
}
