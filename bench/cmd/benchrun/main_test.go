package main

import (
	"strings"
	"testing"
)

func TestWrongUseIsReported(t *testing.T) {
	for _, c := range []struct {
		args string
		want string
	}{
		{"", "nothing to compare"},
		{"loggers", `no comparison is called "loggers"`},
		{"-passes -1 log", "must be positive"},
		{"-load 100ms proxy", "must be positive"},
		{"-speed log", "-speed"},
		{"-case ( log", "missing closing )"},
	} {
		var stdout, stderr strings.Builder
		if code := run(t.Context(), strings.Fields(c.args), &stdout, &stderr); code != 2 {
			t.Errorf("benchrun %s: exit code %d, want 2", c.args, code)
		}
		if !strings.Contains(stderr.String(), c.want) || stdout.Len() > 0 {
			t.Errorf("benchrun %s: says %q, want %q and no output", c.args, stderr.String(), c.want)
		}
	}
}

// TestEveryTargetHasItsLine checks that every target finds its row, because renaming a case would silently remove its
// RESULT line.
func TestEveryTargetHasItsLine(t *testing.T) {
	var stdout, stderr strings.Builder
	if code := run(t.Context(), strings.Fields("-passes 1 -time 1ms log router"), &stdout, &stderr); code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr.String())
	}
	for _, line := range []string{"router_build_time", "router_build_memory"} {
		if !strings.Contains(stdout.String(), "\nRESULT "+line+" ratio=") {
			t.Errorf("no line for %s", line)
		}
	}
	for _, target := range targets {
		if !strings.Contains(stdout.String(), "\nRESULT "+target.result+" ratio=") {
			t.Errorf("no line for %s", target.result)
		}
	}
}
