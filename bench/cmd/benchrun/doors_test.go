package main

import (
	"regexp"
	"slices"
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

var mainCase = closedLoop(proxy.Work{Connections: 64, Log: proxy.ToFile})

func TestDoorsAreJudged(t *testing.T) {
	rows := []doorRow{
		row(proxy.Nginx, -1, 20, 21, 22, 23, 24),
		row(proxy.ReverseProxy, 80, 98, 99, 100, 101, 102),
		row(proxy.Caddy, -1, 90, 95, 100, 105, 110),
		row(proxy.Weir, 17.24, 48, 49, 50, 51, 52),
		row(proxy.WeirOne, 16, 18, 18, 19, 20, 20),
		row(proxy.WeirRoutines, 16, 63, 63, 63, 63, 63),
		row(proxy.WeirBase, 16, 100, 100, 100, 100, 100),
		row(proxy.WeirNull, 17.2, 47, 49, 50, 51, 53),
		row(proxy.WeirSilent, 17.2, 39, 39, 40, 41, 41),
		row(proxy.ServerOnly, 17, 10, 10, 10, 10, 10),
	}
	var lines []string
	for _, r := range judgeDoors(mainCase, rows) {
		lines = append(lines, r.String())
	}
	want := []string{
		"RESULT proxy_cpu_vs_nginx ratio=2.273 target=1.00 missed",
		"RESULT proxy_one_event_cpu_vs_nginx ratio=0.864 target=0.90 ok",
		"RESULT proxy_goroutines_cpu_vs_nginx ratio=2.864",
		"RESULT proxy_goroutines_cpu_vs_base ratio=0.630 target=0.70 ok",
		"RESULT proxy_cpu_vs_base ratio=0.500",
		"RESULT proxy_cpu_vs_reverseproxy ratio=0.500 target=0.60 ok",
		"RESULT proxy_cpu_vs_caddy ratio=0.500 target=0.45 missed",
		"RESULT proxy_allocs allocs=17.2 target_allocs=0 missed",
	}
	if got := strings.Join(lines, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
	var table strings.Builder
	if err := writeDoors(&table, mainCase, "doors", rows); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"2.27 ~1.00 0 0 0 17.2 weir to /dev/null",
		"these passes do not show the share of weir's CPU that is writing the lines to a file",
		"20% of weir's CPU is logging as a whole",
	} {
		if !strings.Contains(strings.Join(strings.Fields(table.String()), " "), want) {
			t.Errorf("the table lacks %q:\n%s", want, table.String())
		}
	}
}

func TestIdleIsJudged(t *testing.T) {
	cases := proxyCases()
	idle := cases[len(cases)-1]
	var rows []doorRow
	for _, name := range []string{proxy.Nginx, proxy.Weir} {
		rows = append(rows, doorRow{Door: proxy.Door{Name: name}, costs: []proxy.Cost{
			{Memory: 1000, IdleCPU: 41 * time.Millisecond, BareCPU: 35 * time.Millisecond},
		}})
	}
	var lines []string
	for _, r := range judgeDoors(idle, rows) {
		lines = append(lines, r.String())
	}
	const want = "RESULT proxy_idle_kib value=0.9766 target=1 ok\nRESULT proxy_idle_cpu_ms value=6 target=5 missed"
	if got := strings.Join(lines, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	var table strings.Builder
	if err := writeIdle(&table, idle, 1, rows); err != nil {
		t.Fatal(err)
	}
	got := strings.Join(strings.Fields(table.String()), " ")
	if !strings.Contains(got, "0.98 +0% +0% 41.0 35.0 6.0 weir") {
		t.Errorf("the table lacks weir's figures:\n%s", table.String())
	}
}

func TestDoorsWithoutWeirAreNotJudged(t *testing.T) {
	if got := judgeDoors(mainCase, []doorRow{row(proxy.Nginx, -1, 20)}); len(got) != 0 {
		t.Errorf("got %v, want no result line", got)
	}
}

// TestEveryDoorTargetHasItsCase checks the names in the table of targets, because a wrong one would silently remove its
// RESULT line.
func TestEveryDoorTargetHasItsCase(t *testing.T) {
	for _, target := range doorTargets {
		found := false
		for _, c := range slices.Concat(proxyCases(), tlsCases, http2Cases) {
			rate := c.Work
			if c.fixed {
				rate.Rate = 1
			}
			for _, d := range proxy.Doors {
				found = found || c.result == target.result && d.Name == target.row && d.Fits(rate)
			}
		}
		if !found || figures[target.figure] == nil {
			t.Errorf("no case, row or figure for %+v", target)
		}
	}
}

func TestCasesAreChosenByPattern(t *testing.T) {
	for _, c := range []struct {
		pattern string
		all     bool
		want    int
	}{
		{"", false, 3}, {"", true, 25}, {"pipe", false, 6}, {"fixed", false, 1}, {"KiB|MiB", false, 5},
		{"long", false, 9}, {"idle", false, 1}, {"nothing", true, 0},
	} {
		s := settings{cases: regexp.MustCompile(c.pattern), all: c.all}
		if got := s.chosenProxies(); len(got) != c.want {
			t.Errorf("-case %q -all=%v: got %d cases, want %d", c.pattern, c.all, len(got), c.want)
		}
	}
}
