package weir_test

import (
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/testkit"
	"github.com/weirhq/weir/limit"
	"github.com/weirhq/weir/proxy"
)

// TestProxyRespondsWithStatusOfLimits puts a proxy under each limit of bodies in a net/http server. It checks
// that a body that exceeds the limit gets the limit's status, also after its first block.
func TestProxyRespondsWithStatusOfLimits(t *testing.T) {
	t.Parallel()
	origin := testkit.Serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
	}))
	up, err := proxy.NewUpstream("origin", proxy.Options{Servers: []proxy.Server{{URL: origin.URL}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(up.Close)
	for _, limited := range []struct {
		name   string
		policy limit.Policy
		status int
		stalls bool // the client stops after the bytes
	}{
		{"body", limit.MaxBody(1000).Policy("body"), 413, false},
		// All bytes have to arrive within Grace: net/http resets a connection whose body it has not read, and then the
		// client may get no response.
		{"pace", limit.Pace{PerSecond: 1 << 40, Grace: 2 * time.Second}.Policy("pace"), 408, true},
	} {
		for name, sent := range map[string]int{"short": 2000, "long": 500_000} {
			t.Run(limited.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				handler := limit.Middleware(limited.policy, nil)(&proxy.Proxy{Upstream: up})
				door := testkit.Serve(t, handler)
				body, client := io.Pipe()
				defer client.Close()
				defer time.AfterFunc(time.Minute, func() { client.Close() }).Stop() // net/http waits for it after an error
				go func() {
					client.Write(make([]byte, sent))
					if !limited.stalls {
						client.Close()
					}
				}()
				r, err := http.NewRequest("POST", door.URL, body) // of unknown length
				if err != nil {
					t.Fatal(err)
				}
				resp, err := http.DefaultClient.Do(r)
				if err != nil {
					t.Fatal(err)
				}
				resp.Body.Close()
				if resp.StatusCode != limited.status {
					t.Errorf("status %d, want %d", resp.StatusCode, limited.status)
				}
			})
		}
	}
}
