package proxying_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/weirhq/weir/internal/proxying"
)

// TestProxyRequestsTheChangedURL checks that a Proxy after other handlers requests the
// URL that these have changed.
func TestProxyRequestsTheChangedURL(t *testing.T) {
	t.Parallel()
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, r.RequestURI)
	}))
	defer origin.Close()
	up := openUpstream(t, proxying.Options{}, origin.URL)
	door := httptest.NewServer(http.StripPrefix("/api", &proxying.Proxy{Upstream: up}))
	defer door.Close()
	for asked, want := range map[string]string{
		"/api/a%2Fb/c?x=%20&y": "/a%2Fb/c?x=%20&y",
		"/api/":                "/",
		"/api":                 "/",
	} {
		resp, err := http.Get(door.URL + asked)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || string(got) != want {
			t.Errorf("%s reached the upstream as %q (%v), want %q", asked, got, err, want)
		}
	}
}
