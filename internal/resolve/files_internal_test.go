package resolve

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func settings(c *client) string {
	return fmt.Sprintln(c.servers, c.names.Search, c.names.Ndots, c.timeout, c.attempts)
}

func TestSettingsAreReadFromResolvConf(t *testing.T) {
	path := filepath.Join(t.TempDir(), "resolv.conf")
	for _, c := range []struct{ text, want string }{
		{"", "[127.0.0.1:53 [::1]:53] [] 1 5s 2"},
		{"nameserver 192.0.2.1\nnameserver bad\nnameserver ::1\n", "[192.0.2.1:53 [::1]:53] [] 1 5s 2"},
		{"nameserver 192.0.2.1\ndomain a.example\nsearch b.example . c.example.\noptions ndots:2 timeout:3 attempts:9 rotate",
			"[192.0.2.1:53] [b.example c.example.] 2 3s 5"},
		{"; nameserver 192.0.2.2\nnameserver\noptions timeout:x ndots:99 timeout:0", "[127.0.0.1:53 [::1]:53] [] 15 1s 2"},
	} {
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := settings(newClient(nil, path)); got != c.want+"\n" {
			t.Errorf("%q: %s, want %s", c.text, got, c.want)
		}
	}
}

func TestCandidatesFollowSearchDomains(t *testing.T) {
	path := filepath.Join(t.TempDir(), "resolv.conf")
	if err := os.WriteFile(path, []byte("search a.example b.example.\noptions ndots:2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := newClient(nil, path)
	for _, test := range []struct{ name, want string }{
		{"shop", "[shop.a.example. shop.b.example. shop.]"},
		{"shop.svc", "[shop.svc.a.example. shop.svc.b.example. shop.svc.]"},
		{"shop.svc.x", "[shop.svc.x. shop.svc.x.a.example. shop.svc.x.b.example.]"},
		{"shop.", "[shop.]"},
	} {
		if got := fmt.Sprint(c.names.NameList(test.name)); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}
