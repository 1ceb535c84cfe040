package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/bench/proxy"
)

func TestCountedSeparatesThousands(t *testing.T) {
	for n, want := range map[int]string{0: "0", 64: "64", 1000: "1,000", 10050: "10,050", 1234567: "1,234,567"} {
		if got := counted(n); got != want {
			t.Errorf("counted(%d) is %q, want %q", n, got, want)
		}
	}
}

// TestScalesAreDrawn draws a picture of costs that are known.
func TestScalesAreDrawn(t *testing.T) {
	all := scales()
	for _, sc := range all {
		for i := range sc.cells {
			for k, name := range scaleDoors {
				cost := proxy.Cost{CPU: time.Duration(20+10*i+k) * time.Microsecond}
				sc.cells[i].rows = append(sc.cells[i].rows, doorRow{Door: proxy.Door{Name: name}, costs: []proxy.Cost{cost}})
			}
		}
		var table strings.Builder
		if err := sc.write(&table, settings{passes: 1}); err != nil || !strings.Contains(table.String(), "1,000") {
			t.Errorf("%v, %s", err, &table)
		}
	}
	file := filepath.Join(t.TempDir(), "scale.svg")
	if err := drawScales(file, all); err != nil {
		t.Fatal(err)
	}
	picture, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(picture), "10,000") || strings.Contains(string(picture), "NaN") {
		t.Errorf("%v, %s", err, picture)
	}
}

func TestWeirIsBuiltFromThisTree(t *testing.T) {
	file, err := buildWeir(t.Context(), filepath.Join(t.TempDir(), "weir"))
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), file, "version").Output(); err != nil ||
		!strings.HasPrefix(string(out), "weir ") {
		t.Errorf("weir version: %q, %v", out, err)
	}
}
