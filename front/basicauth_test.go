package front_test

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/feature/basicauth"
	"github.com/weirhq/weir/internal/password"
	"github.com/weirhq/weir/internal/testkit"
)

// bcryptHash returns a hash with a cost.
func bcryptHash(t testing.TB, secret string, cost int) string {
	t.Helper()
	hash, err := bcrypt.GenerateFromPassword([]byte(secret), cost)
	if err != nil {
		t.Fatal(err)
	}
	return string(hash)
}

// slowCost returns the cost of a hash whose comparison takes about 50 ms. The race detector makes it ten times slower.
func slowCost() int {
	if raceEnabled {
		return 7
	}
	return 10
}

// protected returns a route for users.
func protected(match string, auth *basicauth.Config) config.Route {
	route := config.DefaultRoute(match, "site")
	auth.Realm = cmp.Or(auth.Realm, "staff")
	route.BasicAuth = auth
	return route
}

// showIdentity responds with the fields of the request that identify a user.
func showIdentity(w http.ResponseWriter, r *http.Request) {
	for _, name := range []string{"Authorization", "X-User", "X_user", "X-Groups"} {
		for key, values := range r.Header {
			if strings.EqualFold(key, name) {
				fmt.Fprintf(w, "%s=%s;", name, strings.Join(values, ","))
			}
		}
	}
}

func basic(credentials string) string {
	return "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(credentials)) + "\r\n"
}

// TestBasicAuthAdmitsRightPasswords sends right, wrong and malformed passwords. The log has the names of
// admitted users, and never a password.
func TestBasicAuthAdmitsRightPasswords(t *testing.T) {
	t.Parallel()
	back := upstream(t, showIdentity)
	users := []basicauth.User{
		{Name: "alice", Hash: password.New("swordfish")},
		{Name: "bob", Hash: bcryptHash(t, "pass:wörd", bcrypt.MinCost)},
		{Name: "ünal", Hash: bcryptHash(t, "", bcrypt.MinCost)},
	}
	d := openDoor(t, back.URL, func(c *config.Config) {
		c.Routes = append(c.Routes,
			protected("/staff", &basicauth.Config{Users: users}),
			protected("/named", &basicauth.Config{Users: users, UserHeader: "X-User"}),
			protected("/passed", &basicauth.Config{Users: users, PassAuthorization: true}))
	})
	long := "Authorization: Basic " + strings.Repeat("QUFB", 10_000) + "\r\n"
	for i, c := range []struct {
		path, fields string
		status       int
		body         string // or the reason in the log
		user         any
	}{
		{"/staff", basic("alice:swordfish"), 200, "", "alice"},
		{"/staff", strings.Replace(basic("alice:swordfish"), "Basic ", "bAsIc   ", 1), 200, "", "alice"},
		{"/staff", basic("bob:pass:wörd"), 200, "", "bob"},
		{"/staff", basic("ünal:"), 200, "", "ünal"},
		{"/named", "X-User: root\r\nx_uSer: root\r\n" + basic("bob:pass:wörd"), 200, "X-User=bob;", "bob"},
		{"/passed", basic("ünal:"), 200, "Authorization=" + strings.TrimSpace(basic("ünal:")[15:]) + ";", "ünal"},

		{"/staff", "", 401, "no user name and password", nil},
		{"/staff", basic("alice:wrong"), 401, "wrong user name or password", nil},
		{"/staff", basic("alice:"), 401, "wrong user name or password", nil},
		{"/staff", basic("Alice:swordfish"), 401, "wrong user name or password", nil},
		{"/staff", basic("carol:swordfish"), 401, "wrong user name or password", nil},
		{"/staff", basic(":"), 401, "wrong user name or password", nil},
		{"/staff", basic("alice"), 401, "Authorization is malformed", nil},
		{"/staff", basic("alice:sword\nfish"), 401, "Authorization is malformed", nil},
		{"/staff", basic("ali\x00ce:swordfish"), 401, "Authorization is malformed", nil},
		{"/staff", basic(""), 401, "Authorization is malformed", nil},
		{"/staff", "Authorization: Basic\r\n", 401, "Authorization is malformed", nil},
		{"/staff", "Authorization: Basic !!!!\r\n", 401, "Authorization is malformed", nil},
		{"/staff", "Authorization: Basic YWxpY2U6c3dvcmRmaXNo=\r\n", 401, "Authorization is malformed", nil},
		{"/staff", "Authorization: Bearer YWxpY2U6c3dvcmRmaXNo\r\n", 401, "another scheme", nil},
		{"/staff", basic("alice:swordfish") + basic("alice:swordfish"), 401, "several", nil},
		{"/staff", "Proxy-" + basic("alice:swordfish"), 401, "no user name", nil},
		{"/staff", long, 401, "too long", nil},
		{"/", basic("alice:wrong"), 200, "Authorization=" + strings.TrimSpace(basic("alice:wrong")[15:]) + ";", nil},
	} {
		resp, body := ask(t, d.addr, "GET "+c.path+" HTTP/1.1\r\nHost: a\r\n"+c.fields+"\r\n")
		id := resp.Header.Get("X-Request-Id")
		e := d.log.find(t, func(e event) bool { return e.TraceID == id && e.HTTP.StatusCode != 0 })
		challenge := resp.Header.Get("WWW-Authenticate")
		switch {
		case resp.StatusCode != c.status:
			t.Errorf("%d, %.80q: %s, want %d", i, c.fields, resp.Status, c.status)
		case c.status == 200 && (body != c.body || challenge != ""):
			t.Errorf("%d, %.80q: the upstream received %q, want %q", i, c.fields, body, c.body)
		case c.status == 401 && challenge != `Basic realm="staff", charset="UTF-8"`:
			t.Errorf("%d, %.80q: the challenge is %q", i, c.fields, challenge)
		case c.status == 401 && !strings.Contains(fmt.Sprint(e.Data["refused"]), c.body):
			t.Errorf("%d, %.80q: the log has the reason %v, want %q", i, c.fields, e.Data["refused"], c.body)
		}
		if e.Data["user"] != c.user {
			t.Errorf("%d, %.80q: the log has the user %v, want %v", i, c.fields, e.Data["user"], c.user)
		}
	}
	if got := d.metric(t, `weir_access_refusals_total{by="basic_auth",route="/staff"}`); got != 17 {
		t.Errorf("%v refusals are counted, want 17", got)
	}
	d.close()
	for _, e := range d.log.events(t) {
		for _, secret := range []string{"swordfish", "YWxpY2U6c3dvcmRmaXNo", users[0].Hash} {
			if strings.Contains(e.raw, secret) {
				t.Errorf("the log contains %q:\n%s", secret, e.raw)
			}
		}
	}
}

// TestBasicAuthForgetsPasswordsOnReload checks a body that is not read, and the dropped verifications after
// a reload.
func TestBasicAuthForgetsPasswordsOnReload(t *testing.T) {
	t.Parallel()
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) { io.Copy(w, r.Body) })
	d := openDoor(t, back.URL, func(c *config.Config) {
		c.Routes = []config.Route{protected("/", &basicauth.Config{
			Users: []basicauth.User{{Name: "alice", Hash: bcryptHash(t, "old", bcrypt.MinCost)}}})}
	})
	for name, c := range map[string]*http.Client{"HTTP/1.1": httpClient(t), "HTTP/2": h2cClient(t)} {
		send := func(user, secret string, want int) {
			t.Helper()
			r, err := http.NewRequest("POST", d.url("/"), strings.NewReader(strings.Repeat("x", 1<<20)))
			if err != nil {
				t.Fatal(err)
			}
			r.SetBasicAuth(user, secret)
			if resp, _ := do(t, c, r); resp.StatusCode != want {
				t.Errorf("%s: %s with %s: %s, want %d", name, user, secret, resp.Status, want)
			}
		}
		send("alice", "old", 200)
		send("alice", "old", 200)
		send("alice", "wrong", 401)
		changed := *d.config
		changed.Routes = []config.Route{protected("/", &basicauth.Config{
			Users: []basicauth.User{{Name: "alice", Hash: bcryptHash(t, "new", bcrypt.MinCost)}}})}
		if _, err := d.Reload(&changed); err != nil {
			t.Fatal(err)
		}
		send("alice", "old", 401)
		send("alice", "new", 200)
		if _, err := d.Reload(d.config); err != nil {
			t.Fatal(err)
		}
	}
}

// TestUnknownUsersCostAComparison checks that a password of an unknown user is compared with a hash, so that
// the time of the response does not reveal which users exist. Without the comparison, the
// response would take a hundredth of its time. The bound is wide, because the machine may be
// busy.
func TestUnknownUsersCostAComparison(t *testing.T) {
	t.Parallel()
	hash := bcryptHash(t, "swordfish", 8)
	d := openDoor(t, upstream(t, hello).URL, func(c *config.Config) {
		c.Routes = []config.Route{protected("/", &basicauth.Config{Users: []basicauth.User{{Name: "alice", Hash: hash}}})}
	})
	least := func(f func()) time.Duration {
		times := make([]time.Duration, 3)
		for i := range times {
			began := time.Now()
			f()
			times[i] = time.Since(began)
		}
		return slices.Min(times)
	}
	comparison := least(func() { bcrypt.CompareHashAndPassword([]byte(hash), []byte("wrong")) })
	for _, credentials := range []string{"alice:wrong", "carol:swordfish"} {
		request := "GET / HTTP/1.1\r\nHost: a\r\n" + basic(credentials) + "\r\n"
		if took := least(func() { ask(t, d.addr, request) }); took < comparison/10 {
			t.Errorf("%s: the response takes %v, a comparison %v", credentials, took, comparison)
		}
	}
}

// TestFloodOfPasswordsBlocksNoOthers sends more wrong passwords than can be checked. Requests to other
// routes, and those of users whose password was verified before, are served meanwhile.
func TestFloodOfPasswordsBlocksNoOthers(t *testing.T) {
	t.Parallel()
	d := openDoor(t, upstream(t, hello).URL, func(c *config.Config) {
		c.Routes = append(c.Routes, protected("/staff", &basicauth.Config{
			Users: []basicauth.User{{Name: "alice", Hash: bcryptHash(t, "swordfish", slowCost()-2)}}}))
	})
	alice := "GET /staff HTTP/1.1\r\nHost: a\r\n" + basic("alice:swordfish") + "\r\n"
	if resp, _ := ask(t, d.addr, alice); resp.StatusCode != 200 {
		t.Fatalf("before the flood: %s", resp.Status)
	}
	const more = 300
	statuses := make(chan int, more)
	var flood sync.WaitGroup
	for i := range more {
		flood.Go(func() {
			resp, _ := ask(t, d.addr, "GET /staff HTTP/1.1\r\nHost: a\r\n"+basic(fmt.Sprint("user:", i))+"\r\n")
			if resp.StatusCode == 503 && resp.Header.Get("Retry-After") == "" {
				t.Error("a 503 has no Retry-After")
			}
			statuses <- resp.StatusCode
		})
	}
	testkit.Await(t, "a full queue", func() bool {
		return d.metric(t, `weir_limit_refusals_total{limit="password_checks",route="/staff"}`) > 0
	})
	for range 10 {
		for _, request := range []string{alice, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"} {
			if resp, _ := ask(t, d.addr, request); resp.StatusCode != 200 {
				t.Errorf("during the flood: %s", resp.Status)
			}
		}
	}
	flood.Wait()
	close(statuses)
	count := map[int]int{}
	for status := range statuses {
		count[status]++
	}
	if count[401] == 0 || count[503] == 0 || count[401]+count[503] != more {
		t.Errorf("the statuses of the flood: %v", count)
	}
}

// TestClientMayLeaveDuringPasswordCheck disconnects a client whose password waits to be verified. Over HTTP/1.1 it
// resets the connection: after a normal close it could still read the response for a second.
func TestClientMayLeaveDuringPasswordCheck(t *testing.T) {
	http1 := httpClient(t)
	http1.Transport.(*http.Transport).DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		nc, err := new(net.Dialer).DialContext(ctx, network, addr)
		if err == nil {
			nc.(*net.TCPConn).SetLinger(0)
		}
		return nc, err
	}
	for name, client := range map[string]*http.Client{"HTTP/1.1": http1, "HTTP/2": h2cClient(t)} {
		t.Run(name, func(t *testing.T) {
			const tries = 10 // with a user each, since a verification is remembered
			users, hash := make([]basicauth.User, tries), bcryptHash(t, "swordfish", slowCost())
			for i := range users {
				users[i] = basicauth.User{Name: fmt.Sprint("user", i+1), Hash: hash}
			}
			d := openDoor(t, upstream(t, hello).URL, func(c *config.Config) {
				c.Routes = []config.Route{protected("/{path...}", &basicauth.Config{Users: users})}
			})
			// On a busy machine the password may be verified before the client has left.
			for i := 1; ; i++ {
				e := leave(t, d, client, fmt.Sprint("user", i))
				if e.HTTP.StatusCode == 499 && e.Data["user"] == nil {
					break
				}
				if i == tries {
					t.Fatalf("of %d clients none has left in time; the log has %s", tries, e.raw)
				}
			}
		})
	}
}

// leave sends other requests with passwords first, each of which takes a processor for about 50 ms. It then sends one
// of the user, disconnects as soon as the door has received it, and returns its last event.
func leave(t *testing.T, d *testDoor, client *http.Client, user string) event {
	t.Helper()
	path := "/" + user
	received := func(path string) (n int) {
		for _, e := range d.log.events(t) {
			if e.Event == "http request received" && e.HTTP.Path == path {
				n++
			}
		}
		return n
	}
	var before sync.WaitGroup
	defer before.Wait()
	others := max(12, 4*runtime.GOMAXPROCS(0))
	for range others {
		before.Go(func() { ask(t, d.addr, "GET "+path+"/before HTTP/1.1\r\nHost: a\r\n"+basic("other:wrong")+"\r\n") })
	}
	d.log.until(t, func() bool { return received(path+"/before") == others })
	ctx, disconnect := context.WithCancel(t.Context())
	defer disconnect()
	r, err := http.NewRequestWithContext(ctx, "GET", d.url(path), nil)
	if err != nil {
		t.Fatal(err)
	}
	r.SetBasicAuth(user, "swordfish")
	before.Go(func() {
		if resp, err := client.Do(r); err == nil {
			resp.Body.Close()
		}
	})
	d.log.until(t, func() bool { return received(path) == 1 })
	disconnect()
	return d.completed(t, path)
}
