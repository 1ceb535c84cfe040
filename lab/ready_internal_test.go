package lab

import "testing"

func TestBelowReplacesThePath(t *testing.T) {
	for _, c := range []struct{ service, path, want string }{
		{"http://h:1/", "/a", "http://h:1/a"},
		{"http://h:1", "/a?b", "http://h:1/a?b"},
		{"https://h:1/x/y?z", "/a", "https://h:1/a"},
		{"http://h:1?x", "/", "http://h:1/"},
		{"http://h:1/", "http://other/", "http://other/"},
		{"http://h:1/", "127.0.0.1:2/a", "127.0.0.1:2/a"},
		{"http://h:1/", "", ""},
	} {
		if got := below(c.service, c.path); got != c.want {
			t.Errorf("below(%q, %q) = %q, want %q", c.service, c.path, got, c.want)
		}
	}
}
