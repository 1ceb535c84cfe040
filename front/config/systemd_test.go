package config_test

import "testing"

func TestSystemdSocketsAreListeners(t *testing.T) {
	c := parse(t, "listen: [systemd/http, systemd/weir.socket, ':80']\nadmin: systemd/admin\n"+smallest, nil)
	if c.Listen[0] != "systemd/http" || c.Listen[1] != "systemd/weir.socket" || c.Admin != "systemd/admin" {
		t.Errorf("listen %q, admin %q", c.Listen, c.Admin)
	}
	for src, place := range map[string][2]int{
		"listen: systemd/\n":                          {1, 9},
		"listen: ['systemd/a b']\n":                   {1, 10},
		"listen: systemd/a:b\n":                       {1, 9},
		"listen: systemd/http\nadmin: systemd/http\n": {1, 9},
		"watch: often\n":                              {1, 8},
	} {
		ms := mistakes(t, src+smallest, nil)
		if len(ms) != 1 || ms[0].Line != place[0] || ms[0].Col != place[1] {
			t.Errorf("%q: %v, want one mistake at %v", src, ms, place)
		}
	}
}
