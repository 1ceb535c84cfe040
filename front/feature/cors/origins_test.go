package cors

import (
	"net/http"
	"strings"
	"testing"
)

// FuzzOrigins checks that an allowed origin has an allowed host.
func FuzzOrigins(f *testing.F) {
	f.Add("https://a.example.com")
	f.Add("https://example.com")
	f.Add("https://evil/.example.com")
	f.Add("https://evil@.example.com")
	o := &Policy{origins: map[string]bool{"https://app.example": true},
		under: []originsUnder{{"https://", ".example.com"}}}
	f.Fuzz(func(t *testing.T, origin string) {
		if !o.allows(origin) || origin == "https://app.example" {
			return
		}
		r, err := http.NewRequest("GET", origin, nil)
		if err != nil {
			return // no browser sends it
		}
		if u := r.URL; u.Scheme != "https" || u.Port() != "" || u.User != nil || u.Path != "" || u.RawQuery != "" ||
			!strings.HasSuffix(u.Hostname(), ".example.com") {
			t.Errorf("%q is allowed", origin)
		}
	})
}
