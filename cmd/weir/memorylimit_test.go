package main

import (
	"path/filepath"
	"testing"
)

// TestLimitsFollowTheMemory starts a front door with a GOMEMLIMIT. Limits that the configuration does not have follow
// from it, and stderr has the number of connections. Those of the configuration stay, and an event warns of one that is
// higher.
func TestLimitsFollowTheMemory(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "weir.yaml")
	writeConfig(t, file, allTo("http://127.0.0.1:1"))
	p := prepare(t, "serve", "--config", file)
	p.cmd.Env = append(p.cmd.Env, "GOMEMLIMIT=256MiB")
	if err := p.start(); err != nil {
		t.Fatal(err)
	}
	check := func(connections, inFlight float64) {
		t.Helper()
		for name, want := range map[string]float64{"max_connections": connections, "in_flight": inFlight} {
			if got := metric(t, p.admin(), "weir_limit_value", `limit="`+name+`"`, `route="all"`); got != want {
				t.Errorf("%s is %v, want %v", name, got, want)
			}
		}
	}
	check(1024, 1024)
	writeConfig(t, file, "limits: {max_connections: 3000, in_flight: 100}\n"+allTo("http://127.0.0.1:1"))
	start(t, "reload", "--config", file).wait(0)
	check(3000, 100)
	p.says("limits.max_connections is 1024, because of 268 MB of memory")
	if e := p.events(1)[0]; e.Event != "limit above what the memory allows" || e.Data["limit"] != "max_connections" {
		t.Errorf("the event is %s", e.line)
	}
}
