package upstreams_test

import (
	"fmt"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/internal/configtest"
	"github.com/weirhq/weir/front/upstreams"
	"github.com/weirhq/weir/internal/mistaketest"
)

// parseListed parses a configuration whose upstream has the servers of a file.
func parseListed(t *testing.T, list string) (*config.Config, error) {
	t.Helper()
	src := "watch: true\nupstreams: {a: {servers: {file: servers.yaml}, tls: {name: x.example}}}\n" +
		"routes: {match: /, to: a}\n"
	return configtest.ParseBeside(t, src, "servers.yaml", list)
}

// TestServersAreReadFromFile reads the servers of an upstream from a file, which is none of the sources: it
// changes without a reload.
func TestServersAreReadFromFile(t *testing.T) {
	c, err := parseListed(t, "# servers\n- http://10.0.0.7\n- {url: unix:/run/a.sock, weight: 3, backup: true}\n")
	if err != nil {
		t.Fatal(err)
	}
	u := c.Upstreams[0]
	want := []upstreams.Server{{URL: "http://10.0.0.7:80"}, {URL: "unix:/run/a.sock", Weight: 3, Backup: true}}
	if !reflect.DeepEqual(u.Servers, want) || filepath.Base(u.List.File) != "servers.yaml" {
		t.Errorf("the servers are %+v of %+v", u.Servers, u.List)
	}
	if len(c.Sources) != 1 || len(c.States) != 0 {
		t.Errorf("the sources are %q with %d states", c.Sources, len(c.States))
	}
}

// TestPasswordOfNATSListIsHidden names a list of servers with a password, which is not in messages.
func TestPasswordOfNATSListIsHidden(t *testing.T) {
	const url = "tls://weir:hunter2@a:4222,b/upstreams/shop/site.v1?ca=/etc/passwd"
	src := "upstreams: {a: {servers: {nats: '" + url + "'}}}\nroutes: {match: /, to: a}\n"
	c, err := config.Parse("weir.yaml", []byte(src), nil)
	if err != nil {
		t.Fatal(err)
	}
	u := c.Upstreams[0]
	if u.List.NATS != url || u.List.String() != "tls://a:4222,b/upstreams/shop/site.v1" || u.Servers != nil {
		t.Errorf("the servers are %+v of %q, %v", u.Servers, u.List.NATS, u.List)
	}
}

// listMistakes are mistakes in a list of servers.
var listMistakes = []struct {
	name, list string
	want       []string
}{
	{"empty", "", []string{"1:1 the list is empty|- http://"}},
	{"a comment", "# servers\n", []string{"1:1 the list is empty"}},
	{"no servers", "[]\n", []string{"1:1 is empty"}},
	{"a mapping", "servers: [http://a]\n", []string{"1:1 not a list of servers|dash"}},
	{"a URL", "http://a\n", []string{"1:1 not a list of servers|dash"}},
	{"not YAML", "- http://a\n- [b\n", []string{"2:3 not YAML"}},
	{"a wrong key", "- {url: http://a, wieght: 2}\n", []string{`1:19 "wieght"|did you mean "weight"?`}},
	{"a list in a list", "- {file: b.yaml}\n", []string{"1:3 \"url\"", `1:4 unknown key "file"`}},
	{"a wrong URL", "- http://a\n- b:80\n", []string{"2:3 has no scheme"}},
	{"a wrong weight", "- {url: http://a, weight: 0}\n", []string{"1:27 0"}},
	{"twice", "- http://a\n- http://A:80\n", []string{`2:3 "http://a:80" twice`}},
	{"different paths", "- http://a/x\n- http://b/y\n", []string{"2:3 same path"}},
	{"only backups", "- {url: http://a, backup: true}\n", []string{"1:1 backups"}},
	{"a variable", "- ${SERVER}\n", []string{"1:3 no scheme"}},
	{"a password", "- http://user:hunter2@a\n", []string{"1:3 user name"}},
}

func TestMistakesNameTheListOfServers(t *testing.T) {
	for _, c := range listMistakes {
		t.Run(c.name, func(t *testing.T) {
			_, err := parseListed(t, c.list)
			mistaketest.Want(t, err, c.want)
			for _, m := range err.(config.Mistakes) {
				if filepath.Base(m.File) != "servers.yaml" || strings.Contains(m.Error(), "hunter2") {
					t.Errorf("the mistake is %v", m)
				}
			}
			_, err = upstreams.ParseServers("list", []byte(c.list))
			mistaketest.Want(t, err, c.want)
		})
	}
}

// FuzzParseServers checks that a list has servers or mistakes within it.
func FuzzParseServers(f *testing.F) {
	for _, c := range listMistakes {
		f.Add([]byte(c.list))
	}
	f.Fuzz(func(t *testing.T, list []byte) {
		servers, err := upstreams.ParseServers("list", list)
		first, _, _ := strings.Cut(fmt.Sprint(err), "\n")
		switch {
		case err == nil && len(servers) == 0:
			t.Error("no servers, and no mistake")
		case err != nil && !regexp.MustCompile(`^list:[1-9]\d*:\d+: `).MatchString(first):
			t.Errorf("the error is %v", err)
		}
	})
}
