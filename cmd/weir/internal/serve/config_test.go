package serve

import (
	"testing"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/logto"
)

// TestHumanLogIsNotForServers sets HUMAN_LOG beside destinations of which one is a server.
func TestHumanLogIsNotForServers(t *testing.T) {
	t.Setenv("HUMAN_LOG", "1")
	for _, c := range []struct {
		to   []string
		want string
	}{
		{[]string{logto.ToStdout, "weir.log"}, "human"},
		{[]string{logto.ToStdout, "nats://127.0.0.1:4222/logs"}, "json"},
	} {
		cfg := config.Default()
		cfg.Log.To, cfg.Log.Format = c.to, "json"
		new(Command).override(cfg)
		if cfg.Log.Format != c.want {
			t.Errorf("%v: %s, want %s", c.to, cfg.Log.Format, c.want)
		}
	}
}
