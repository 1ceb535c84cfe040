package front_test

import (
	"testing"

	"github.com/weirhq/weir/front/config"
)

// TestNoTimeoutNeverPasses checks that a deadline that never passes is one for each engine and both versions of HTTP.
func TestNoTimeoutNeverPasses(t *testing.T) {
	t.Parallel()
	unlimited := func(c *config.Config) { c.Routes[0].Timeout = config.NoTimeout }
	for _, engine := range []string{config.EngineLoops, config.EngineGoroutines} {
		for name, url := range map[string]string{"http1": upstream(t, hello).URL, "http2": openH2C(t, hello).URL} {
			t.Run(engine+" "+name, func(t *testing.T) {
				d := openDoor(t, url, unlimited, func(c *config.Config) { c.Engine, c.Upstreams[0].HTTP2 = engine, name == "http2" })
				if resp, _ := get(t, httpClient(t), d.url("/")); resp.StatusCode != 200 {
					t.Error(resp.Status)
				}
			})
		}
	}
}
