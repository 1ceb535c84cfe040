package basicauth_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/feature/basicauth"
	"github.com/weirhq/weir/front/internal/configtest"
	"github.com/weirhq/weir/internal/mistaketest"
)

const (
	someHash  = "$2y$05$vktC5YEWNql0blcYYfvUS.A1aue9l1Tk9RH3MYPleT53SEhC0BurG"
	otherHash = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHApl8ArZWb2GRPPc"
)

// parseWithUsers parses a configuration with two routes that use the same file of users.
func parseWithUsers(t *testing.T, users string) (*config.Config, error) {
	t.Helper()
	return configtest.ParseBeside(t, "upstreams: {a: {servers: http://a}}\nroutes:\n"+
		"- {match: /a, to: a, basic_auth: {users: users}}\n- {match: /b, to: a, basic_auth: {users: users}}\n",
		"users", users)
}

func TestUsersAreReadFromFile(t *testing.T) {
	c, err := parseWithUsers(t, "\ufeff# staff\r\nalice:"+someHash+"\r\n\n \t\nbob smith:"+otherHash+":a comment")
	if err != nil {
		t.Fatal(err)
	}
	want := []basicauth.User{{Name: "alice", Hash: someHash}, {Name: "bob smith", Hash: otherHash}}
	for _, r := range c.Routes {
		if diff := cmp.Diff(want, r.BasicAuth.Users); diff != "" {
			t.Errorf("%s: users (-want +got):\n%s", r.Match, diff)
		}
	}
	if len(c.Sources) != 2 {
		t.Errorf("the sources are %q", c.Sources)
	}
}

// TestUserFileMistakesHideThePassword checks that each mistake is reported once, and without the
// password.
func TestUserFileMistakesHideThePassword(t *testing.T) {
	for _, c := range []struct {
		name, users string
		want        []string
	}{
		{"plain passwords", "älice:swordfish\nbob:{SHA}x\nswordfish\n:" + someHash + "\n",
			[]string{`1:7 the password of user "älice": it is not a hash`, `2:5 "bob": its hash is too weak`,
				`3:1 the line has no colon`, `4:1 "" cannot name a user`}},
		{"a user twice", "bob:" + someHash + "\nbob:" + otherHash + "\n", []string{`2:1 "bob" is given twice, first on line 1`}},
		{"control characters", "a\x1b[31mb:" + someHash + "\n", []string{`1:1 \x1b[31m`}},
		{"bytes", "\xff\xfe:" + someHash + "\n", []string{`1:1 UTF-8`}},
		{"a malformed and a costly hash", "a:$2y$10$swordfish\nb:$2y$31$" + someHash[7:] + "\n",
			[]string{`1:3 its hash is malformed`, `2:3 too costly`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := parseWithUsers(t, c.users)
			var ms config.Mistakes
			if !errors.As(err, &ms) {
				t.Fatalf("Parse: %v", err)
			}
			mistaketest.Want(t, ms, c.want)
			if strings.Contains(err.Error(), "swordfish") {
				t.Errorf("a password is shown:\n%v", err)
			}
		})
	}
	_, err := parseWithUsers(t, "# none\n")
	if err == nil || !strings.Contains(err.Error(), "weir.yaml:3:42: the file") {
		t.Errorf("a file without users: %v", err)
	}
}

func TestUsersAreReadFromConfiguration(t *testing.T) {
	c, err := config.Parse("weir.yaml", []byte("upstreams: {a: {servers: http://a}}\nroutes: [{match: /, to: a, basic_auth: {realm: The staff, "+
		"users: {alice: "+someHash+", bob: '${HASH}'}, user_header: X-User, pass_authorization: true}}]\n"),
		func(name string) (string, bool) { return otherHash, name == "HASH" })
	if err != nil {
		t.Fatal(err)
	}
	want := &basicauth.Config{Realm: "The staff", UserHeader: "X-User", PassAuthorization: true,
		Users: []basicauth.User{{Name: "alice", Hash: someHash}, {Name: "bob", Hash: otherHash}}}
	if diff := cmp.Diff(want, c.Routes[0].BasicAuth); diff != "" {
		t.Errorf("BasicAuth (-want +got):\n%s", diff)
	}
}

func FuzzFileOfUsers(f *testing.F) {
	f.Add("alice:" + someHash + "\n")
	f.Add("# x\r\n:\n::\n")
	f.Fuzz(func(t *testing.T, users string) {
		c, err := parseWithUsers(t, users)
		if err != nil {
			return
		}
		for _, u := range c.Routes[0].BasicAuth.Users {
			if !strings.Contains(users, u.Name+":"+u.Hash) {
				t.Errorf("user %q is not in %q", u.Name, users)
			}
		}
	})
}

func TestBasicAuthMistakesAreReported(t *testing.T) {
	for _, c := range []struct {
		name, src string
		want      []string
	}{
		{"users", "upstreams: {a: {servers: http://a}}\nroutes:\n- {match: /a, to: a, basic_auth: {realm: 'a\"b'}}\n" +
			"- {match: /b, to: a, basic_auth: {users: {'a:b': x, bob: swordfish, eve: $apr1$x$y}}}\n" +
			"- {match: /c, to: a, basic_auth: {users: {}, user_header: x_forwarded_for}}\n" +
			"- {match: /d, to: a, basic_auth: {users: 'bob:swordfish', pass_authorization: maybe}}\n" +
			"- {match: /e, to: a, basic_auth: {users: no/users, user_header: 'a b'}}\n",
			[]string{`3:22 no "users"|users.htpasswd`, `3:42 "a\"b" is not a realm`, `4:43 "a:b" cannot name a user`,
				`4:58 the password of user "bob"|weir hash-password`, `4:74 the password of user "eve": its hash is too weak`,
				`5:42 "users" is empty`, `5:59 weir itself writes "x_forwarded_for"`, `6:42 not the path of a file`,
				`6:79 "maybe"`, `7:42 the users "no/users"|no such file`, `7:65 "a b" is not the name of a header field`}},
		{"no user of a group is left", "upstreams: {a: {servers: http://a}}\nroutes:\n- group:\n    to: a\n" +
			"    basic_auth: {users: {alice: " + someHash + "}}\n    routes:\n    - {match: /b, basic_auth: {users: {alice: off}}}\n",
			[]string{`7:39 "users" is empty|users.htpasswd`}},
	} {
		configtest.WantMistakes(t, c.name, c.src, c.want)
	}
}
