package front_test

import (
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/front/condition"
	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/feature/split"
	"github.com/weirhq/weir/front/upstreams"
	"github.com/weirhq/weir/internal/testkit"
)

// named starts an upstream that responds with its name. It sets a cookie of its own, and
// returns the cookies that it has received in X-Cookies.
func named(t testing.TB, name string) upstreams.Upstream {
	s := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Add("Set-Cookie", "own=1")
		w.Header().Set("X-Cookies", strings.Join(r.Header["Cookie"], "; "))
		io.WriteString(w, name)
	})
	return upstreams.Upstream{Name: name, Servers: []upstreams.Server{{URL: s.URL}}}
}

// splitDoor returns a configuration that splits all requests between upstreams.
func splitDoor(sticky *split.Sticky, upstreams []upstreams.Upstream, weights ...int) func(*config.Config) {
	return func(c *config.Config) {
		c.Upstreams = upstreams
		r := config.DefaultRoute("/{path...}", "")
		r.StickySplit = sticky
		for i, weight := range weights {
			r.Split = append(r.Split, split.Share{To: upstreams[i].Name, Weight: weight})
		}
		c.Routes = []config.Route{r}
	}
}

// TestSplitFollowsTheWeights counts the requests of each upstream, over both protocols. The log and
// the metrics have the upstream that a request was forwarded to.
func TestSplitFollowsTheWeights(t *testing.T) {
	t.Parallel()
	ups := []upstreams.Upstream{named(t, "shop"), named(t, "shop-next"), named(t, "drained")}
	for name, client := range map[string]*http.Client{"HTTP/1.1": httpClient(t), "HTTP/2": h2cClient(t)} {
		d := openDoor(t, "", splitDoor(nil, ups, 95, 5, 0))
		const n = 1000
		got := map[string]int{}
		for i := range n {
			resp, body := get(t, client, d.url(fmt.Sprint("/", i)))
			got[body]++
			if cookies := resp.Header["Set-Cookie"]; len(cookies) != 1 {
				t.Fatalf("%s: Set-Cookie %q without sticky", name, cookies)
			}
			if i > 20 {
				continue
			}
			e := d.log.find(t, func(e event) bool { return e.Event == "proxying request" && e.HTTP.Path == fmt.Sprint("/", i) })
			if e.Data["proxy_name"] != body {
				t.Errorf("%s: the log has the upstream %v, want %s", name, e.Data["proxy_name"], body)
			}
		}
		if next := got["shop-next"]; next < 40 || next > 60 || got["shop"]+next != n {
			t.Errorf("%s: %v, want 950 and 50 requests", name, got)
		}
		testkit.AwaitEqual(t, "nothing in flight", func() float64 { return d.metric(t, "weir_requests_in_flight") }, 0)
		for i, up := range ups {
			series := fmt.Sprintf("weir_upstream_duration_seconds_count{server=%q,upstream=%q}", ups[i].Servers[0].URL, up.Name)
			if counted := d.metric(t, series); int(counted) != got[up.Name] {
				t.Errorf("%s: %v requests of %s were counted, want %d", name, counted, up.Name, got[up.Name])
			}
		}
		d.close()
	}
}

// stickyValue matches the Set-Cookie of a front door.
var stickyValue = regexp.MustCompile(`^door=([0-9a-f]{16}); Path=/; HttpOnly; SameSite=Lax$`)

// visit sends a request with cookies. It returns the name of the upstream, the cookies that
// the upstream has received, and the value of the cookie that the front door has set, or "".
func visit(t *testing.T, d *testDoor, client *http.Client, cookies ...string) (name, received, set string) {
	t.Helper()
	req, err := http.NewRequest("GET", d.url("/"), nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header["Cookie"] = cookies
	resp, body := do(t, client, req)
	for _, cookie := range resp.Header["Set-Cookie"] {
		switch m := stickyValue.FindStringSubmatch(cookie); {
		case m != nil && set == "":
			set = m[1]
		case cookie != "own=1":
			t.Errorf("Set-Cookie: %s", cookie)
		}
	}
	if len(resp.Header["Set-Cookie"]) == 0 {
		t.Error("the upstream's own Set-Cookie is missing")
	}
	return body, resp.Header.Get("X-Cookies"), set
}

func TestStickySplitKeepsItsClients(t *testing.T) {
	t.Parallel()
	ups := []upstreams.Upstream{named(t, "shop"), named(t, "shop-next"), named(t, "last")}
	sticky := &split.Sticky{Cookie: "door"}
	for name, client := range map[string]*http.Client{"HTTP/1.1": httpClient(t), "HTTP/2": h2cClient(t)} {
		t.Run(name, func(t *testing.T) {
			d := openDoor(t, "", splitDoor(sticky, ups, 50, 50))
			values := map[string]string{}
			for range 20 {
				up, _, set := visit(t, d, client)
				if set == "" || values[up] != "" && values[up] != set {
					t.Fatalf("%s: the cookie has the values %q and %q", up, values[up], set)
				}
				values[up] = set
			}
			if len(values) != 2 || values["shop"] == values["shop-next"] {
				t.Fatalf("the cookies are %q, want one for each upstream", values)
			}
			for up, value := range values {
				for _, cookies := range [][]string{
					{"door=" + value}, {"a=b; door=" + value + "; c=d"}, {"a=b", "door=" + value},
					{"door=forged; door=" + value}, {";;door=" + value + ";"},
				} {
					if got, received, set := visit(t, d, client, cookies...); got != up || set != "" ||
						!strings.Contains(received, "door="+value) {
						t.Errorf("%q: %s, sets %q, received %q; want %s, sets nothing", cookies, got, set, received, up)
					}
				}
			}
			for _, forged := range []string{"", "shop", "0", "0000000000000000", strings.ToUpper(values["shop"]) + "x",
				values["shop"] + " x", strings.Repeat("a", 4000), "\"" + values["shop"] + "\""} {
				if up, _, set := visit(t, d, client, "door="+forged); set != values[up] {
					t.Errorf("forged value %q: %s sets %q, want %q", forged, up, set, values[up])
				}
			}
			if up, _, set := visit(t, d, client, "Door="+values["shop"]); set != values[up] {
				t.Error("the name of a cookie is case-sensitive")
			}

			// The upstream is drained: only its own clients reach it.
			reload := func(ups []upstreams.Upstream, weights ...int) {
				if _, err := d.Reload(doorConfig("", splitDoor(sticky, ups, weights...))); err != nil {
					t.Fatal(err)
				}
			}
			reload(ups, 0, 100)
			for range 10 {
				if up, _, _ := visit(t, d, client); up != "shop-next" {
					t.Errorf("a new client reaches the drained %s", up)
				}
			}
			if up, _, set := visit(t, d, client, "door="+values["shop"]); up != "shop" || set != "" {
				t.Errorf("a client of the drained upstream reaches %s and gets the cookie %q", up, set)
			}
			// The upstream is removed: its clients are distributed to the others.
			reload(ups[1:], 100, 100)
			got := map[string]bool{}
			for range 10 {
				up, _, set := visit(t, d, client, "door="+values["shop"])
				if set == "" {
					t.Errorf("the client of a removed upstream keeps its cookie at %s", up)
				}
				got[up] = true
			}
			if !got["shop-next"] || !got["last"] {
				t.Errorf("the clients of a removed upstream reach only %v", got)
			}
			if up, _, set := visit(t, d, client, "door="+values["shop-next"]); up != "shop-next" || set != "" {
				t.Errorf("the client of an upstream that stays reaches %s and gets the cookie %q", up, set)
			}
		})
	}
}

// TestSplitConditionsPrecedeWeights checks that conditions have precedence over the weights and the
// cookie, and that the request of a condition does not set the cookie.
func TestSplitConditionsPrecedeWeights(t *testing.T) {
	t.Parallel()
	ups := []upstreams.Upstream{named(t, "shop"), named(t, "shop-next")}
	d := openDoor(t, "", splitDoor(&split.Sticky{Cookie: "door"}, ups, 1, 0), func(c *config.Config) {
		c.Routes[0].Split[1].When = headers(condition.Condition{Name: "X-Canary", Value: "1"})
		c.Routes[0].Split = append(c.Routes[0].Split, split.Share{To: "shop-next", When: condition.Set{
			Cookies: []condition.Condition{{Name: "canary", Test: condition.IsPresent}, {Name: "never", Test: condition.IsAbsent}},
		}})
	})
	for name, client := range map[string]*http.Client{"HTTP/1.1": httpClient(t), "HTTP/2": h2cClient(t)} {
		_, _, cookie := visit(t, d, client)
		for _, c := range []struct {
			fields http.Header
			want   string
			sets   bool
		}{
			{http.Header{}, "shop", true},
			{http.Header{"X-Canary": {"1"}}, "shop-next", false},
			{http.Header{"X-Canary": {"2"}}, "shop", true},
			{http.Header{"X-Canary": {"1"}, "Cookie": {"door=" + cookie}}, "shop-next", false},
			{http.Header{"X-Canary": {"0"}, "Cookie": {"door=" + cookie}}, "shop", false},
			{http.Header{"Cookie": {"canary="}}, "shop-next", false},
			{http.Header{"Cookie": {"a=b;canary=x; c"}}, "shop-next", false},
			{http.Header{"Cookie": {"a=b", "c; canary=x"}}, "shop-next", false},
			{http.Header{"Cookie": {"canary"}}, "shop", true},
			{http.Header{"Cookie": {"Canary=1; xcanary=1; x=canary=1"}}, "shop", true},
			{http.Header{"Cookie": {"canary=1; never=1"}}, "shop", true},
		} {
			req, err := http.NewRequest("GET", d.url("/"), nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header = c.fields
			resp, body := do(t, client, req)
			if sets := len(resp.Header["Set-Cookie"]) == 2; body != c.want || sets != c.sets {
				t.Errorf("%s %v: %s, sets the cookie %v; want %s, %v", name, c.fields, body, sets, c.want, c.sets)
			}
		}
	}
}

// TestStickyCookieFollowsTheScheme checks the attributes that depend on the configuration and on the
// scheme of the client.
func TestStickyCookieFollowsTheScheme(t *testing.T) {
	t.Parallel()
	ups := []upstreams.Upstream{named(t, "shop")}
	sticky := &split.Sticky{Cookie: "door", MaxAge: 24 * time.Hour}
	d := openDoor(t, "", splitDoor(sticky, ups, 1), func(c *config.Config) {
		c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
	})
	for proto, want := range map[string]string{"http": "; SameSite=Lax", "https": "; Secure", "wss": "; Secure", "": "; SameSite=Lax"} {
		resp, _ := ask(t, d.addr, "GET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-Proto: "+proto+"\r\n\r\n")
		cookie := resp.Header["Set-Cookie"][1]
		if !strings.HasSuffix(cookie, want) || !strings.Contains(cookie, "; Max-Age=86400; ") {
			t.Errorf("X-Forwarded-Proto %q: %s", proto, cookie)
		}
	}
}

// TestFailedUpstreamSetsNoStickyCookie has an upstream that refuses connections. Its clients must not stay with
// it.
func TestFailedUpstreamSetsNoStickyCookie(t *testing.T) {
	t.Parallel()
	d := openDoor(t, "", splitDoor(&split.Sticky{Cookie: "door"},
		[]upstreams.Upstream{{Name: "dead", Servers: []upstreams.Server{{URL: "http://" + testkit.ClosedAddress(t)}}}}, 1))
	resp, _ := get(t, httpClient(t), d.url("/"))
	if resp.StatusCode != 502 || resp.Header["Set-Cookie"] != nil {
		t.Errorf("%s, Set-Cookie %q, want 502 without", resp.Status, resp.Header["Set-Cookie"])
	}
}

func TestLimitsOfRouteApplyToItsSplit(t *testing.T) {
	t.Parallel()
	d := openDoor(t, "", splitDoor(nil, []upstreams.Upstream{named(t, "a"), named(t, "b")}, 1, 1),
		func(c *config.Config) { c.Routes[0].Limits.Body = 3 })
	for body, want := range map[string]int{"abc": 200, "abcd": 413} {
		req, err := http.NewRequest("POST", d.url("/"), strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if resp, _ := do(t, httpClient(t), req); resp.StatusCode != want {
			t.Errorf("body %q: %s, want %d", body, resp.Status, want)
		}
	}
}

// TestSplitAllocatesNothing checks that a split allocates nothing, with and without a cookie.
func TestSplitAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	back := rawUpstream(t, answerWithoutAllocating)
	ups := []upstreams.Upstream{
		{Name: "a", Servers: []upstreams.Server{{URL: "http://" + back}}}, {Name: "b", Servers: []upstreams.Server{{URL: "http://" + back}}},
	}
	for name, sticky := range map[string]*split.Sticky{"weights": nil, "sticky": {Cookie: "door"}} {
		t.Run(name, func(t *testing.T) {
			d := discardingDoor(t, "", config.EventsAll, splitDoor(sticky, ups, 70, 30))
			request := "GET /a HTTP/1.1\r\nHost: www.example.com\r\nCookie: a=b; door=forged\r\n\r\n"
			if n := mallocsPerRequest(t, d, request); n >= 0.1 {
				t.Errorf("%.2f allocations for a request, want none", n)
			}
		})
	}
}
