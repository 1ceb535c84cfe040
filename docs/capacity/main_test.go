package main

import (
	"os"
	"strings"
	"testing"
)

// TestDocsHaveTheTables compares docs/capacity.md with the output of the program.
func TestDocsHaveTheTables(t *testing.T) {
	page, err := os.ReadFile("../capacity.md")
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := run([]string{"-results", "results.txt"}, &out, &out); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), out.String()) {
		t.Errorf("docs/capacity.md does not have these tables:\n%s", out.String())
	}
}

// TestNeedsMatchAPlanByHand computes a small plan by hand.
func TestNeedsMatchAPlanByHand(t *testing.T) {
	p := defaultPlan()
	p.costs = costs{oneEvent: 20, threeEvents: 24, overTLS: 25, handshake: 200, response16K: 35, oneEventBytes: 500,
		threeEventBytes: 1500, connectionTLS: 8000}
	p.response, p.cores, p.sample = 1<<10+1<<10, 4, 0.5
	n := p.need(100_000)
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"CPU time: 25 for TLS, 2 of a handshake, 1 for a KiB", n.cpu, 28},
		{"busy processors", n.cores, 2.8},
		{"two machines at half of their time, and a spare", n.machines, 3},
		{"connections for ten seconds", n.connections, 1e6},
		{"memory", n.memory, 8e9},
		{"half of the log", n.logRate, 25e6},
		{"streams", n.streams, 1},
		{"money for 12 processors", n.machineMoney, 12 * 0.04 * 730},
	} {
		if diff := c.got - c.want; diff > 1e-6*c.want || diff < -1e-6*c.want {
			t.Errorf("%s: %g, want %g", c.name, c.got, c.want)
		}
	}
}

// TestHelpIsNoMistake prints the flags, which is no mistake.
func TestHelpIsNoMistake(t *testing.T) {
	var out strings.Builder
	if err := run([]string{"-h"}, &out, &out); err != nil || !strings.Contains(out.String(), "-core-hour") {
		t.Errorf("error %v and\n%s", err, out.String())
	}
}

// TestMistakesAreReported gives the program wrong flags and costs.
func TestMistakesAreReported(t *testing.T) {
	empty := t.TempDir() + "/empty.txt"
	broken := t.TempDir() + "/broken.txt"
	if err := os.WriteFile(empty, []byte("no lines\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(broken, []byte("RESULT capacity_request cpu_us=fast\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"-results none.txt":                    "no such file",
		"-results " + empty:                    "there is no line RESULT capacity_no_event with cpu_us=; make bench-capacity prints it",
		"-results " + broken:                   `"cpu_us=fast" is not a measured cost`,
		"-results results.txt -events 2":       "-events",
		"-results results.txt -use 0":          "-use",
		"-results results.txt -reuse 0":        "-reuse",
		"-results results.txt -rates 10,many":  `"many" is not a number`,
		"-results results.txt -interval 0s":    "-interval",
		"-results results.txt -sample 2":       "-sample",
		"-results results.txt -rates -5":       `"-5" is not a number`,
		"-results results.txt -cores many":     "invalid value",
		"-results results.txt -unknown string": "not defined",
		"-results results.txt more":            `"more" is not a flag`,
	} {
		var out strings.Builder
		err := run(strings.Fields(args), &out, &out)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", args, err, want)
		}
	}
}
