package main

import (
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/bench/proxy"
)

// row returns a door with the given costs in microseconds, pass by pass.
func row(name string, mallocs float64, micros ...int) doorRow {
	r := doorRow{Door: proxy.Door{Name: name}}
	for _, us := range micros {
		r.costs = append(r.costs, proxy.Cost{CPU: time.Duration(us) * time.Microsecond, Mallocs: mallocs})
	}
	return r
}

func TestDoorsAreJudged(t *testing.T) {
	rows := []doorRow{
		row(proxy.Nginx, -1, 20, 21, 22, 23, 24),
		row(proxy.ReverseProxy, 80, 98, 99, 100, 101, 102),
		row(proxy.Caddy, -1, 90, 95, 100, 105, 110),
		row(proxy.Weir, 17.24, 48, 49, 50, 51, 52),
		row(proxy.WeirNull, 17.2, 47, 49, 50, 51, 53),
		row(proxy.WeirSilent, 17.2, 39, 39, 40, 41, 41),
		row(proxy.ServerOnly, 17, 10, 10, 10, 10, 10),
	}
	var lines []string
	for _, r := range judgeDoors(rows) {
		lines = append(lines, r.String())
	}
	want := []string{
		"RESULT proxy_cpu_vs_nginx ratio=2.273",
		"RESULT proxy_cpu_vs_reverseproxy ratio=0.500 target=0.60 ok",
		"RESULT proxy_cpu_vs_caddy ratio=0.500 target=0.45 missed",
		"RESULT proxy_allocs_beyond_nethttp allocs=0.2 target_allocs=0 missed",
	}
	if got := strings.Join(lines, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
	var table strings.Builder
	if err := writeDoors(&table, "doors", rows); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"~1.00  weir to /dev/null",
		"these passes do not show the share of weir's CPU that is writing the lines to a file",
		"20% of weir's CPU is logging as a whole",
	} {
		if !strings.Contains(table.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, table.String())
		}
	}
}

func TestDoorsWithoutWeirAreNotJudged(t *testing.T) {
	if got := judgeDoors([]doorRow{row(proxy.Nginx, -1, 20)}); len(got) != 0 {
		t.Errorf("got %v, want no result line", got)
	}
}
