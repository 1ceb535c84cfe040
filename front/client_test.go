package front_test

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/weirhq/weir/front/config"
)

// TestSpoofedIdentityIsIgnored claims to be another client in all known ways. Without
// trusted proxies, neither the log nor the upstream uses the claims.
func TestSpoofedIdentityIsIgnored(t *testing.T) {
	t.Parallel()
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		for name, values := range r.Header {
			if strings.Contains(fmt.Sprint(values), "203.0.113") {
				w.Header().Add("X-Believed", name)
			}
		}
		w.Header()["X-Hops"] = r.Header["X-Forwarded-For"]
	})
	d := openDoor(t, back.URL)
	const spoof = "203.0.113.7"
	forms := []string{spoof, spoof + ", 127.0.0.1", "127.0.0.1, " + spoof, "[2001:db8::1], " + spoof, spoof + ":80",
		"for=" + spoof, `for="` + spoof + `:80"`, "unknown, " + spoof}
	names := []string{"X-Forwarded-For", "x-forwarded-for", "X_Forwarded_For", "X-Forwarded_For", "Forwarded",
		"FORWARDED", "X-Real-IP", "x_real_ip", "X-Forwarded", "X-Forwarded-Client-Ip"}
	for _, name := range names {
		for _, form := range forms {
			resp, _ := ask(t, d.addr,
				fmt.Sprintf("GET / HTTP/1.1\r\nHost: a\r\n%s: %s\r\n%s: %s\r\n\r\n", name, form, name, spoof))
			if got := resp.Header["X-Believed"]; got != nil {
				t.Errorf("%s: %s reached the upstream as %q", name, form, got)
			}
			if hops := resp.Header["X-Hops"]; len(hops) != 1 || hops[0] != "127.0.0.1" {
				t.Errorf("%s: %s made X-Forwarded-For %q", name, form, hops)
			}
		}
	}
	d.close()
	completed := 0
	for _, e := range d.log.events(t) {
		if e.Event == "http request completed" {
			completed++
			if e.HTTP.Client != "127.0.0.1" {
				t.Errorf("the client is said to be %s", e.HTTP.Client)
			}
		}
	}
	if completed != len(names)*len(forms) {
		t.Errorf("%d completed events for %d requests", completed, len(names)*len(forms))
	}
}

// TestTrustedProxyReportsTheClient checks the client address that a trusted proxy reports.
func TestTrustedProxyReportsTheClient(t *testing.T) {
	t.Parallel()
	back := upstream(t, hello)
	d := openDoor(t, back.URL, func(c *config.Config) {
		c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32"), netip.MustParsePrefix("10.0.0.0/8")}
	})
	for hops, want := range map[string]string{
		"203.0.113.7":                "203.0.113.7",
		"6.6.6.6, 203.0.113.7":       "203.0.113.7",
		"203.0.113.7, 10.1.2.3":      "203.0.113.7",
		"2001:db8::1":                "2001:db8::1",
		"::ffff:203.0.113.7":         "203.0.113.7",
		"nonsense":                   "127.0.0.1",
		"203.0.113.7, nonsense":      "127.0.0.1",
		"10.9.9.9":                   "10.9.9.9",
		"[2001:db8::1]:80, 10.0.0.1": "2001:db8::1",
	} {
		resp, _ := ask(t, d.addr, "GET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: "+hops+"\r\n\r\n")
		id := resp.Header.Get("X-Request-Id")
		e := d.log.find(t, func(e event) bool { return e.TraceID == id && e.HTTP.StatusCode == 200 })
		if e.HTTP.Client != want {
			t.Errorf("X-Forwarded-For: %s makes the client %s, want %s", hops, e.HTTP.Client, want)
		}
	}
}
