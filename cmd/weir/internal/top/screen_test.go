package top

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/snapshot"
)

// busyDoor returns a snapshot with long lists and a hostile name.
func busyDoor() *snapshot.Door {
	bound := .25
	d := &snapshot.Door{At: time.Unix(1_000_000, 0), Started: time.Unix(990_000, 0), Version: "devel",
		Requests: snapshot.Requests{Counter: snapshot.Counter{Total: 12345, PerSecond: 200}, InFlight: 3, P99: &bound}}
	for i := range 40 {
		name := fmt.Sprintf("/a/very/long/route/with/many/segments/%d/{path...}", i)
		d.Routes = append(d.Routes, snapshot.Route{Route: name, P99: &bound})
		d.Problems = append(d.Problems, "problem \x1b[2J of "+name)
		d.Limits = append(d.Limits, snapshot.Limit{Limit: "in_flight", Route: name, InUse: 1, Value: 50})
		d.Refusals = append(d.Refusals, snapshot.Refusal{By: "limit", Reason: "rate", Route: name})
		d.Upstreams = append(d.Upstreams, snapshot.Upstream{Upstream: name, Servers: []snapshot.Server{
			{Server: "http://10.0.0.1:8080", States: map[string]int{"ejected": 1}},
		}})
	}
	return d
}

func TestScreenFits(t *testing.T) {
	for _, size := range [][2]int{{20, 5}, {40, 12}, {80, 24}, {120, 50}, {300, 200}} {
		v := view{admin: "127.0.0.1:20001"}
		lines := v.lines(busyDoor(), size[0], size[1])
		if len(lines) > size[1] {
			t.Errorf("%v: %d lines", size, len(lines))
		}
		for _, line := range lines {
			if n := len([]rune(line)); n > size[0] || strings.ContainsRune(line, '\x1b') {
				t.Errorf("%v: %d characters: %q", size, n, line)
			}
		}
	}
}

// A terminal of a few columns has no place for the texts beside their labels.
func TestNarrowestScreenIsDrawn(t *testing.T) {
	for width := range labelWidth + 2 {
		if lines := new(view).lines(busyDoor(), width, 5); len(lines) != 5 {
			t.Errorf("width %d: %d lines, want 5", width, len(lines))
		}
	}
}

func TestScreenSaysWhatItLeavesOut(t *testing.T) {
	v := view{admin: "127.0.0.1:20001"}
	text := strings.Join(v.lines(busyDoor(), 120, 60), "\n")
	for _, want := range []string{"and 34 more", "and 31 more", "127.0.0.1:20001  ready", "p99 <= 250 ms", "200/s",
		"total 12,345", "ejected"} {
		if !strings.Contains(text, want) {
			t.Errorf("the screen lacks %q:\n%s", want, text)
		}
	}
}

func TestNarrowTableHasFewerColumns(t *testing.T) {
	for _, c := range []struct {
		widths []int
		width  int
		want   []int
	}{
		{[]int{10, 5, 5}, 30, []int{10, 5, 5}},
		{[]int{60, 5, 5}, 50, []int{36, 5, 5}},
		{[]int{60, 5, 5}, 32, []int{25, 5}},
		{[]int{10, 5, 5}, 20, []int{10, 5}},
		{[]int{10, 5}, 4, []int{4}},
	} {
		if got := fitting(c.widths, c.width); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("width %d: %v, want %v", c.width, got, c.want)
		}
	}
}
