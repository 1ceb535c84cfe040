package front_test

import (
	"net/netip"
	"testing"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/feature/access"
)

// TestAccessRulesDecideByClient sends requests of clients that trusted proxies report, to a door and to
// routes with networks.
func TestAccessRulesDecideByClient(t *testing.T) {
	t.Parallel()
	back := upstream(t, hello)
	d := openDoor(t, back.URL, func(c *config.Config) {
		c.TrustedProxies = parsePrefixes(t, "127.0.0.1/32")
		c.Access = &access.Config{Deny: parsePrefixes(t, "198.51.100.0/24", "2001:db8:bad::/48")}
		inner := config.DefaultRoute("/inner", "site")
		inner.Access = []*access.Config{{
			Allow: parsePrefixes(t, "10.0.0.0/8", "127.0.0.1/32", "2001:db8::/32"), Deny: parsePrefixes(t, "10.1.2.3/32"),
		}}
		limited := config.DefaultRoute("/limited", "site")
		limited.Access = []*access.Config{{Allow: parsePrefixes(t, "10.0.0.0/8")}}
		limited.Limits.Body = 3
		c.Routes = append(c.Routes, inner, limited)
	})
	for _, c := range []struct {
		path, client string
		want         int
	}{
		{"/", "203.0.113.7", 200},
		{"/", "198.51.100.7", 403},
		{"/", "::ffff:198.51.100.7", 403},
		{"/", "2001:db8:bad::1", 403},
		{"/inner", "198.51.100.7", 403},
		{"/inner", "2001:db8:bad::1", 403},
		{"/inner", "203.0.113.7", 403},
		{"/inner", "10.9.9.9", 200},
		{"/inner", "10.1.2.3", 403},
		{"/inner", "2001:db8::1", 200},
		{"/inner", "10.1.2.3, 10.9.9.9", 200},    // the client claims to have another address
		{"/inner", "10.9.9.9, 203.0.113.7", 403}, // the same
		{"/inner", "nonsense", 200},              // the proxy itself
	} {
		resp, _ := ask(t, d.addr, "GET "+c.path+" HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: "+c.client+"\r\n\r\n")
		if resp.StatusCode != c.want {
			t.Errorf("%s from %s: %s, want %d", c.path, c.client, resp.Status, c.want)
		}
		if c.want == 403 {
			id := resp.Header.Get("X-Request-Id")
			e := d.log.find(t, func(e event) bool { return e.TraceID == id && e.HTTP.StatusCode == 403 })
			if e.Data["refused"] != "access: the network of the client is denied, or not allowed" {
				t.Errorf("%s from %s: the log has the reason %v", c.path, c.client, e.Data["refused"])
			}
		}
	}
	for series, want := range map[string]float64{
		`weir_access_refusals_total{by="access",route="all"}`:    5,
		`weir_access_refusals_total{by="access",route="/inner"}`: 3,
	} {
		if got := d.metric(t, series); got != want {
			t.Errorf("%s = %v, want %v", series, got, want)
		}
	}
}

// TestUntrustedClaimPassesNoAccessRule checks the rule for a client that claims an allowed address, although
// it is no trusted proxy.
func TestUntrustedClaimPassesNoAccessRule(t *testing.T) {
	t.Parallel()
	back := upstream(t, hello)
	d := openDoor(t, back.URL, func(c *config.Config) {
		c.Access = &access.Config{Allow: parsePrefixes(t, "10.0.0.0/8")}
	})
	for _, field := range []string{"X-Forwarded-For: 10.0.0.1", "Forwarded: for=10.0.0.1", "X-Real-IP: 10.0.0.1"} {
		if resp, _ := ask(t, d.addr, "GET / HTTP/1.1\r\nHost: a\r\n"+field+"\r\n\r\n"); resp.StatusCode != 403 {
			t.Errorf("%s: %s, want 403", field, resp.Status)
		}
	}
	c := h2cClient(t)
	if resp, _ := get(t, c, d.url("/none")); resp.StatusCode != 403 {
		t.Errorf("HTTP/2: %s, want 403", resp.Status)
	}
	changed := *d.config
	changed.Access = &access.Config{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}}
	if _, err := d.Reload(&changed); err != nil {
		t.Fatal(err)
	}
	if resp, _ := get(t, c, d.url("/none")); resp.StatusCode != 200 {
		t.Errorf("after a reload: %s, want 200", resp.Status)
	}
}
