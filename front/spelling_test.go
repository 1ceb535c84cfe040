package front_test

import (
	"fmt"
	"net/http"
	"net/netip"
	"testing"

	"golang.org/x/crypto/bcrypt"

	"github.com/weirhq/weir/front/condition"
	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/feature/access"
	"github.com/weirhq/weir/front/feature/basicauth"
	"github.com/weirhq/weir/front/feature/respond"
)

// TestSpellingsOfRestrictedPathsAreRefused requests paths that many upstreams do not distinguish from
// those of routes with restrictions.
func TestSpellingsOfRestrictedPathsAreRefused(t *testing.T) {
	t.Parallel()
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) { w.Header().Set("X-Got", r.RequestURI) })
	d := openDoor(t, back.URL, func(c *config.Config) {
		admin := config.DefaultRoute("/admin/{path...}", "site")
		admin.Access = []*access.Config{{Deny: parsePrefixes(t, "127.0.0.0/8")}}
		one := config.DefaultRoute("/one/{id}", "site")
		one.BasicAuth = &basicauth.Config{Realm: "one", Users: []basicauth.User{{Name: "alice", Hash: bcryptHash(t, "x", bcrypt.MinCost)}}}
		gone := config.DefaultRoute("/gone/{path...}", "")
		gone.Respond = &respond.Config{Status: 404}
		notice := config.DefaultRoute("/notice/{path...}", "")
		notice.Respond = &respond.Config{Status: 200}
		host := config.DefaultRoute("secret.example/{path...}", "site")
		host.Access = admin.Access
		beta := config.DefaultRoute("/beta/{path...}", "site")
		beta.Access = admin.Access
		beta.When = condition.Set{Headers: []condition.Condition{{Name: "X-Beta", Test: condition.IsPresent}}}
		c.Routes = []config.Route{config.DefaultRoute("/{path...}", "site"), admin, one, gone, notice, host, beta,
			config.DefaultRoute("/open/{path...}", "site")}
	})
	const preflight = "Origin: https://a.example\r\nAccess-Control-Request-Method: GET\r\n"
	for i, c := range []struct {
		method, path, fields string
		want                 int
	}{
		{"GET", "/admin/x", "", 403},
		{"GET", "/admin//x", "", 403},
		{"GET", "/%61dmin/%2Fx;y", "", 403},
		{"GET", "//admin/x", "", 400},
		{"GET", "/admin%2Fx", "", 400},
		{"GET", "/admin%2fx", "", 400},
		{"GET", "/%61dmin%2fx", "", 400},
		{"GET", "%2Fadmin/x", "", 400},
		{"GET", "/%2Fadmin/x", "", 400},
		{"GET", "/admin;v=1/x", "", 400},
		{"GET", "/;/admin/x", "", 400},
		{"GET", "/;v=1/admin/x?y", "", 400},
		{"GET", "/;/%2F/admin;/x", "", 400},
		{"HEAD", "//admin/x", "", 400},
		{"POST", "//admin/x", "Content-Length: 0\r\n", 400},
		{"OPTIONS", "//admin/x", preflight, 400},
		{"GET", "/open%2F/x", "", 200},
		{"GET", "//one/7", "", 400},
		{"GET", "//one/7%2F8", "", 400}, // a server that merges slashes
		{"GET", "/one;v/7", "", 400},
		{"GET", "//gone/x", "", 400},
		{"GET", "//notice/x", "", 200},
		{"GET", "//beta/x", "", 200},
		{"GET", "//beta/x", "X-Beta: 1\r\n", 400},
		{"GET", "/x//y;z/a%2Fb", "", 200},
		{"GET", "/proxy/http://a/x", "", 200},
		{"GET", "/x?//admin/x", "", 200},
	} {
		resp, _ := ask(t, d.addr, fmt.Sprintf("%s %s HTTP/1.1\r\nHost: a\r\n%s\r\n", c.method, c.path, c.fields))
		if resp.StatusCode != c.want || c.want != 200 && resp.Header.Get("X-Got") != "" {
			t.Errorf("%d: %s %s: %s, and the upstream got %q; want %d", i, c.method, c.path, resp.Status,
				resp.Header.Get("X-Got"), c.want)
		}
	}
	resp, _ := ask(t, d.addr, "GET //admin/x HTTP/1.1\r\nHost: secret.example\r\n\r\n")
	if resp.StatusCode != 403 {
		t.Errorf("a restricted route itself: %s, want 403", resp.Status)
	}
	const head = "GET //admin/x HTTP/1.1\r\nHost: a\r\n\r\n"
	e, err := d.Explain("https", []byte(head), netip.MustParseAddr("127.0.0.1"))
	if err != nil || e.Status != 400 || len(e.Routes) != 0 {
		t.Errorf("the explanation is %+v, %v; want 400", e, err)
	}
}
