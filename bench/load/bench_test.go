package load

import (
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// open starts a server for w, from programs built for the test.
func open(t *testing.T, w Work) *Bench {
	t.Helper()
	if _, _, err := Processors(); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	row := filepath.Join(dir, "loadrow")
	if out, err := exec.Command("go", "build", "-o", row, "../cmd/loadrow").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v: %s", err, out)
	}
	b := &Bench{Tools: Tools{Row: row}, Dir: dir}
	if err := b.Open(w); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func TestFloorIsCountedAndMeasured(t *testing.T) {
	b := open(t, Work{Connections: 8, Pipeline: 3, Duration: 500 * time.Millisecond})
	for range 2 { // the second pass must not include counts of the first
		cost, err := b.Pass(t.Context(), Generators[0])
		if err != nil {
			t.Fatal(err)
		}
		if cost.Connections != 8 {
			t.Errorf("%d connections, want 8", cost.Connections)
		}
		if cost.Requests < 24 || cost.CPU <= 0 || cost.PeakMemory() == 0 || cost.Took <= 0 {
			t.Errorf("got %d requests in %v with %v of CPU and %d bytes", cost.Requests, cost.Took, cost.CPU,
				cost.PeakMemory())
		}
		if cost.Failed >= 0 || cost.P50 >= 0 {
			t.Errorf("the floor reports nothing, got %+v", cost.Report)
		}
	}
}

// TestFailuresHaveTheOutput checks that the error of a failed program contains its output.
func TestFailuresHaveTheOutput(t *testing.T) {
	b := open(t, Work{Connections: 1, Duration: time.Second})
	fails := Generator{find: func(Tools) string { return "/bin/sh" },
		args: func(c call) []string { return []string{c.program, "-c", "echo no luck >&2; exit 3"} }}
	if _, err := b.Pass(t.Context(), fails); err == nil || !strings.Contains(err.Error(), "exit status 3: no luck") {
		t.Errorf("got %v, want the program's words", err)
	}
	idle := Generator{find: fails.find, args: func(c call) []string { return []string{c.program, "-c", ":"} }}
	if _, err := b.Pass(t.Context(), idle); err == nil || !strings.Contains(err.Error(), "counted 0 requests") {
		t.Errorf("got %v, want that nothing was counted", err)
	}
}

func TestGeneratorsAndServerHaveAProcessorEach(t *testing.T) {
	generator, server, err := Processors()
	if err != nil {
		t.Skip(err)
	}
	if generator == server {
		t.Fatalf("both have processor %d", server)
	}
	u, err := runOn(t.Context(), server, []string{"/bin/sh", "-c", "grep Cpus_allowed_list /proc/self/status"})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Fields(string(u.output)), strconv.Itoa(server); len(got) != 2 || got[1] != want {
		t.Errorf("a child may run on %q, want only %s", got, want)
	}
	if g, s, err := Processors(); g != generator || s != server || err != nil {
		t.Errorf("afterwards this process has %d and %d, want %d and %d (%v)", g, s, generator, server, err)
	}
}
