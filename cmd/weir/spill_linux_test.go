package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirhq/weir/internal/peer"
	"github.com/weirhq/weir/internal/testkit"
)

// TestUpgradesWithSpillDeliverEventsOnce upgrades and reloads a front door under load, while NATS is away and while
// it is not. The stream gets each event of a request exactly once.
func TestUpgradesWithSpillDeliverEventsOnce(t *testing.T) {
	t.Parallel()
	n := peer.StartNATS(t, peer.NATSOptions{JetStream: true})
	js := natsClient(t, n)
	natsStream(t, js, jetstream.StreamConfig{})
	dir := t.TempDir()
	file, all := filepath.Join(dir, "weir.yaml"), filepath.Join(dir, "all.log")
	addr, admin := peer.FreeAddress(t), peer.FreeAddress(t)
	back := start(t, "backend", "--listen", "127.0.0.1:0").url()
	server := fmt.Sprintf("'%s/logs.front-door'", n.URL)
	configure := func(to, spill string) {
		text := fmt.Sprintf("listen: %s\nadmin: %s\ndrain: {delay: off}\nlog: {to: [%s], heartbeat: off%s}\n%s",
			addr, admin, to, spill, allTo(back))
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	spill := func(rest string) string {
		return fmt.Sprintf(", spill: {folder: %s%s}", filepath.Join(dir, "spill"), rest)
	}
	configure(server+", "+all, spill(""))
	pid := startDoor(t, file, "http://"+admin)
	upgrade := func() {
		t.Helper()
		old := pid
		next, err := strconv.Atoi(runs(t, 0, "upgrade", "--config", file).says(`the process (\d+) serves now`))
		if err != nil {
			t.Fatal(err)
		}
		killAtEnd(t, next)
		pid = next
		testkit.Await(t, "the end of the old process", func() bool { return hasEnded(old) })
	}
	reload := func() { t.Helper(); runs(t, 0, "reload", "--config", file) }
	onDisk := func() float64 { return metric(t, "http://"+admin, "weir_log_destination_disk_events") }
	delivered := func() bool { return metric(t, "http://"+admin, "weir_log_queue_events") == 0 }
	grows := func() {
		t.Helper()
		before := onDisk()
		testkit.Await(t, "events on the disk", func() bool { return onDisk() > before+300 })
	}
	end := repeatedly(t, 4, func(c *http.Client) bool {
		if resp, err := c.Get("http://" + addr + "/loaded"); err == nil {
			resp.Body.Close()
		}
		pause(t.Context(), 5*time.Millisecond)
		return true
	})

	for range inSoak(1, 10) {
		n.Stop()
		grows()
		upgrade()
		grows()
		configure(server+", "+all, spill(", size: 32MiB, age: 1h"))
		reload()
		configure(server+", "+all, "")
		runs(t, 0, "reload", "--config", file).says(`only a new process changes \[log.spill.folder\]`)
		grows()
		configure(server+", "+all, spill(""))
		reload()
		n.Start()
		upgrade()
	}
	end()
	testkit.Await(t, "delivery", delivered)

	n.Stop()
	c := client(t)
	for i := range 100 {
		get(t, c, fmt.Sprintf("http://%s/%d", addr, i))
	}
	testkit.AwaitEqual(t, "the events on the disk", onDisk, 300)
	configure(all, "")
	reload()
	configure(server+", "+all, spill(""))
	testkit.Await(t, "the server again, though it is away", func() bool {
		pause(t.Context(), 200*time.Millisecond) // it is being closed for a second
		p := start(t, "reload", "--config", file)
		<-p.exited
		return p.cmd.ProcessState.Success()
	})
	testkit.AwaitEqual(t, "the events on the disk", onDisk, 300)
	n.Start()
	testkit.Await(t, "delivery", delivered)
	stop(t, pid)

	text, err := os.ReadFile(all)
	if err != nil {
		t.Fatal(err)
	}
	isOther := func(line string) bool { return !strings.Contains(line, `"path":`) } // such as those of reloads
	want := slices.DeleteFunc(slices.Sorted(strings.Lines(string(text))), isOther)
	got := slices.DeleteFunc(slices.Sorted(slices.Values(natsLines(t, js))), isOther)
	if !slices.Equal(got, want) {
		t.Errorf("the stream has %d events and the file %d, or they differ", len(got), len(want))
	}
	if left, err := filepath.Glob(filepath.Join(dir, "spill", "*", "*")); err != nil || len(left) > 0 {
		t.Errorf("the spill has %q, %v", left, err)
	}
}
