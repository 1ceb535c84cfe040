package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

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
