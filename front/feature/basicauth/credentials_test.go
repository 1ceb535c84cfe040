package basicauth

import (
	"net/http"
	"strings"
	"testing"

	"github.com/weirhq/weir/front/stage"
)

// FuzzCredentials compares the parser with that of net/http, which is more lenient: it accepts
// control characters, and any length.
func FuzzCredentials(f *testing.F) {
	for _, value := range []string{"Basic YWxpY2U6c3dvcmRmaXNo", "basic  Og==", "Basic YTpi\n", "Basic YTpjOmQ=", "Basic",
		"Bearer x", "Basic gICA", "Basic YTpi "} {
		f.Add(value)
	}
	f.Fuzz(func(t *testing.T, value string) {
		name, secret, why := credentials([]stage.Field{{Name: "AUTHORIZATION", Value: value}})
		if why != "" {
			if name != "" || secret != "" {
				t.Errorf("credentials of %q: %q, %q although %s", value, name, secret, why)
			}
			return
		}
		scheme, encoded, _ := strings.Cut(value, " ")
		r := http.Request{Header: http.Header{"Authorization": {scheme + " " + strings.TrimLeft(encoded, " ")}}}
		wantName, wantSecret, ok := r.BasicAuth()
		if !ok || name != wantName || secret != wantSecret {
			t.Errorf("credentials of %q: %q, %q, want %q, %q, %v", value, name, secret, wantName, wantSecret, ok)
		}
		if strings.ContainsAny(name+secret, "\x00\r\n") || strings.Contains(name, ":") {
			t.Errorf("credentials of %q: %q, %q", value, name, secret)
		}
	})
}
