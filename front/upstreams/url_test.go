package upstreams_test

import (
	"strings"
	"testing"

	"github.com/weirhq/weir/front/config"
)

func TestServerURLsAreNormalized(t *testing.T) {
	for _, c := range []struct{ url, want string }{
		{"http://a", "http://a:80"},
		{"HTTP://A.Example:8080", "http://a.example:8080"},
		{"http://[2001:db8::1]", "http://[2001:db8::1]:80"},
		{"http://my_app-1:1", "http://my_app-1:1"},
		{"https://a", "https://a:443"},
		{"https://a:8443/x", "https://a:8443/x"},
		{"srv+http://_http._tcp.Shop.example", "srv+http://_http._tcp.shop.example"},
		{"srv+https://_https._tcp.shop.example/app/", "srv+https://_https._tcp.shop.example/app"},
		{"srv+http://_http._tcp.shop.example:80", ""},
		{"srv+http://10.0.0.1", ""},
		{"srv+http://shop", ""},
		{"srv+unix:/run/app.sock", ""},
		{"ftp://a", ""},
		{"a:80", ""},
		{"//a", ""},
		{"http://", ""},
		{"http://:80", ""},
		{"http://a:", ""},
		{"http://a:0", ""},
		{"http://a:65536", ""},
		{"http://a/", "http://a:80"},
		{"http://a/App/x/", "http://a:80/App/x"},
		{"http://a:1/é", "http://a:1/%C3%A9"},
		{"http://a//b", ""},
		{"http://a/b/../c", ""},
		{"http://a/{b}", ""},
		{"http://a/b?c", ""},
		{"unix:/run/app.sock", "unix:/run/app.sock"},
		{"unix:/run/app.sock:/app/", "unix:/run/app.sock:/app"},
		{"unix:/run/app.sock:", "unix:/run/app.sock"},
		{"unix:app.sock", ""},
		{"unix:/run/", ""},
		{"unix:/run/../app.sock", ""},
		{"unix:/run/app.sock:app", ""},
		{"unix:/" + strings.Repeat("x", 107), ""},
		{"unix:///run/app.sock", ""},
		{"unix//run/app.sock", ""},
		{"unix@/run/app.sock", ""},
		{"http://unix:/run/app.sock", ""},
		{"http://a?x", ""},
		{"http://a#x", ""},
		{"http://a b", ""},
		{"http://a%41", ""},
		{"http://[fe80::1%25eth0]", ""},
		{"http://1.2.3.256", ""},
		{"http://a..b", ""},
		{"http://[::1", ""},
	} {
		t.Run(c.url, func(t *testing.T) {
			src := "upstreams: {a: {servers: ['" + c.url + "']}}\nroutes: {match: /, to: a}\n"
			parsed, err := config.Parse("weir.yaml", []byte(src), nil)
			switch {
			case (err == nil) != (c.want != ""):
				t.Errorf("Parse: %v, want %q", err, c.want)
			case err == nil && parsed.Upstreams[0].Servers[0].URL != c.want:
				t.Errorf("server %q = %q, want %q", c.url, parsed.Upstreams[0].Servers[0].URL, c.want)
			}
		})
	}
}
