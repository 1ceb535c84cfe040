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

// TestScalesAreDrawn draws a picture of costs that are known.
func TestScalesAreDrawn(t *testing.T) {
	all := scales()
	for _, sc := range all {
		for i := range sc.cells {
			for k := range sc.cells[i].rows {
				cost := proxy.Cost{CPU: time.Duration(20+10*i+k) * time.Microsecond}
				sc.cells[i].rows[k].costs = []proxy.Cost{cost}
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
