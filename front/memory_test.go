package front_test

import (
	"testing"
	"time"

	"github.com/weirhq/weir/front"
	"github.com/weirhq/weir/front/config"
)

// TestConnectionsFitIntoTheMemory computes the number of connections from the memory, the rates and the length of
// heads.
func TestConnectionsFitIntoTheMemory(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name           string
		memory         int64
		rates, headers int
		want           int
	}{
		{"no limit", 0, 0, 0, 0},
		{"the defaults", 128 << 20, 0, 0, 512},
		{"short heads", 128 << 20, 0, 8 << 10, 910},
		{"a rate of all requests", 256 << 20, 1, 0, 704},
		{"rates that need more than half", 256 << 20, 4, 0, 256},
		{"hardly any memory", 1, 0, 0, 1},
	} {
		cfg := config.Default()
		cfg.Limits.Head = c.headers
		for i := range c.rates {
			if rate := (config.Rate{Every: time.Second}); i == 0 {
				cfg.Limits.Rate = rate
			} else {
				cfg.Routes = append(cfg.Routes, config.Route{Limits: config.RequestLimits{Rate: rate}})
			}
		}
		if got := front.FittingConnections(cfg, c.memory); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}
