package front_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/upstreams"
)

// stickyServers returns the upstream site with servers that respond with their names, and a
// cookie.
func stickyServers(t testing.TB, names ...string) upstreams.Upstream {
	up := servers(t, names...)
	up.Sticky = &upstreams.Sticky{Cookie: "server", MaxAge: time.Hour, Secret: "a secret of the test"}
	return up
}

// serverCookie matches the Set-Cookie of a server.
var serverCookie = regexp.MustCompile(`^server=([0-9a-f]{32}); Path=/; Max-Age=3600; HttpOnly; SameSite=Lax(; Secure)?$`)

// visitServer sends a request with cookies. It returns the name of the server, and the value of
// the cookie that the front door has set, or "".
func visitServer(t testing.TB, d *testDoor, client *http.Client, cookies ...string) (name, set string) {
	t.Helper()
	r, err := http.NewRequest("GET", d.url("/"), nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header["Cookie"] = cookies
	resp, body := do(t, client, r)
	for _, cookie := range resp.Header["Set-Cookie"] {
		m := serverCookie.FindStringSubmatch(cookie)
		if m == nil || set != "" {
			t.Errorf("Set-Cookie: %q", resp.Header["Set-Cookie"])
			continue
		}
		set = m[1]
	}
	return body, set
}

// serverCookies returns the value of the cookie of each server.
func serverCookies(t testing.TB, d *testDoor, client *http.Client, servers int) map[string]string {
	t.Helper()
	values := map[string]string{}
	for range servers {
		name, value := visitServer(t, d, client)
		if value == "" {
			t.Errorf("%s sets no cookie", name)
		}
		values[name] = value
	}
	if len(values) != servers {
		t.Fatalf("the cookies are %v, want %d", values, servers)
	}
	return values
}

// TestStickyServerKeepsItsClients keeps clients at their servers: while the server drains, after a reload, and
// at another front door with the same secret.
func TestStickyServerKeepsItsClients(t *testing.T) {
	t.Parallel()
	up := stickyServers(t, "a", "b", "c")
	use := func(c *config.Config) { c.Upstreams = []upstreams.Upstream{up} }
	for name, client := range map[string]*http.Client{"HTTP/1.1": httpClient(t), "HTTP/2": h2cClient(t)} {
		t.Run(name, func(t *testing.T) {
			d := openDoor(t, "", use)
			values := serverCookies(t, d, client, 3)
			check := func(when string, d *testDoor) {
				t.Helper()
				for name, value := range values {
					for _, cookies := range [][]string{{"server=" + value}, {"a=b; server=" + value + "; c=d"}, {"server=forged", "server=" + value}} {
						if got, set := visitServer(t, d, client, cookies...); got != name || set != "" {
							t.Errorf("%s, %q: %s, which sets %q; want %s", when, cookies, got, set, name)
						}
					}
				}
			}
			check("at first", d)
			d.setDraining(t, "drain", up.Servers[0].URL)
			check("while a drains", d)
			for range 6 {
				if got, _ := visitServer(t, d, client); got == "a" {
					t.Error("a client without a cookie reaches the server that drains")
				}
			}
			if _, err := d.Reload(doorConfig("", use)); err != nil {
				t.Fatal(err)
			}
			check("after a reload", d)
			check("another front door", openDoor(t, "", use))
		})
	}
}

// TestStickyClientOfLostServerGetsAnother checks that a client whose server is down gets another one with its
// cookie, and that the cookie of a backup counts only while backups are in use.
func TestStickyClientOfLostServerGetsAnother(t *testing.T) {
	t.Parallel()
	up := stickyServers(t, "a", "b")
	down := upstream(t, hello)
	up.Servers[0].URL, up.Servers[1].Backup = down.URL, true
	d := openDoor(t, "", func(c *config.Config) { c.Upstreams = []upstreams.Upstream{up} })
	client := httpClient(t)
	name, primary := visitServer(t, d, client)
	if name != "hello" {
		t.Fatalf("the request went to %s", name)
	}
	down.Close()
	name, backup := visitServer(t, d, client, "server="+primary)
	if name != "b" || backup == "" || backup == primary {
		t.Errorf("without its server, the client is at %s with the cookie %q", name, backup)
	}
	if name, set := visitServer(t, d, client, "server="+backup); name != "b" || set != "" {
		t.Errorf("with the cookie of the backup: %s, sets %q", name, set)
	}

	other := upstream(t, hello)
	up.Servers[0].URL = other.URL
	if _, err := d.Reload(doorConfig("", func(c *config.Config) { c.Upstreams = []upstreams.Upstream{up} })); err != nil {
		t.Fatal(err)
	}
	if name, set := visitServer(t, d, client, "server="+backup); name != "hello" || set == "" || set == primary {
		t.Errorf("with the cookie of a backup that is not in use: %s, sets %q", name, set)
	}
}

// TestForgedStickyCookieChoosesNoServer sends values that clients make up. None of them chooses a server or
// has an effect on the response, and the value depends on the secret and shows no address.
func TestForgedStickyCookieChoosesNoServer(t *testing.T) {
	t.Parallel()
	up := stickyServers(t, "a", "b")
	d := openDoor(t, "", func(c *config.Config) { c.Upstreams = []upstreams.Upstream{up} })
	client := httpClient(t)
	values := serverCookies(t, d, client, 2)
	forged := []string{"", "0", "a", up.Servers[0].URL, strings.TrimPrefix(up.Servers[0].URL, "http://"),
		strings.Repeat("0", 32), strings.Repeat("a", 5000), values["a"][:31], values["a"] + "0", strings.ToUpper(values["a"]),
		" " + values["a"] + " x", `"` + values["a"] + `"`, "%00", values["a"][16:] + values["a"][:16]}
	for _, value := range forged {
		if name, set := visitServer(t, d, client, "server="+value); set != values[name] {
			t.Errorf("%.40q: %s sets %q", value, name, set)
		}
	}
	if name, set := visitServer(t, d, client, "Server="+values["a"]); set != values[name] {
		t.Error("the name of a cookie is case-sensitive")
	}
	up.Sticky.Secret = "another secret of the test"
	other := serverCookies(t, openDoor(t, "", func(c *config.Config) { c.Upstreams = []upstreams.Upstream{up} }), client, 2)
	if other["a"] == values["a"] || other["a"] == values["b"] {
		t.Error("the value does not depend on the secret")
	}
}
