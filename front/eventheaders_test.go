package front_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirhq/weir/front/config"
)

// TestConfiguredHeadersAreLogged checks the header fields in the completed event, also of
// requests to which Weir itself responds.
func TestConfiguredHeadersAreLogged(t *testing.T) {
	t.Parallel()
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Server-Timing"] = []string{"db;dur=53", "app;dur=47"}
		w.Header().Set("Location", "http://ada:lovelace@a.example/?page=2")
		w.Header().Set("X-Other", "1")
	})
	d := openDoor(t, back.URL, func(c *config.Config) {
		c.Routes[0].Match = "GET /a"
		c.Log.RequestFields = []string{"accept-language", "x-absent", "cookie"} // Parse would refuse the last one
		c.Log.ResponseFields = []string{"server-timing", "location", "content-type", "x-request-id"}
	})
	for _, c := range conversations {
		t.Run(c.protocol, func(t *testing.T) {
			for path, want := range map[string]map[string]any{
				"/a": {
					"request_headers": map[string]any{"accept-language": "cy, en", "cookie": "[redacted]"},
					"response_headers": map[string]any{
						"server-timing": "db;dur=53, app;dur=47",
						"location":      "http://[redacted]@a.example/?page=2",
					},
				},
				"/missing": {
					"refused":          "no route",
					"request_headers":  map[string]any{"accept-language": "cy, en", "cookie": "[redacted]"},
					"response_headers": map[string]any{"content-type": "text/plain; charset=utf-8"},
				},
			} {
				r, err := http.NewRequest("GET", d.url(path), nil)
				if err != nil {
					t.Fatal(err)
				}
				r.Header.Set("Cookie", "session=1")
				r.Header["Accept-Language"] = []string{"cy", "en"}
				client := httpClient(t)
				if c.protocol == "HTTP/2.0" {
					client = h2cClient(t)
				}
				resp, _ := do(t, client, r)
				id := resp.Header.Get("X-Request-Id")
				want["response_headers"].(map[string]any)["x-request-id"] = id
				e := d.log.find(t, func(e event) bool { return e.Event == "http request completed" && e.TraceID == id })
				if diff := cmp.Diff(want, e.Data); diff != "" {
					t.Errorf("%s: data (-want +got):\n%s", path, diff)
				}
			}
		})
	}
}
