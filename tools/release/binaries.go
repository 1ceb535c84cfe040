package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// binary returns the path of the binary for a target.
func (r *release) binary(t target) string { return filepath.Join(r.work, t.String(), "weir") }

func (r *release) buildBinaries() error {
	for _, t := range r.Targets {
		if err := r.buildBinary(t, r.binary(t)); err != nil {
			return err
		}
	}
	return nil
}

// buildBinary builds the command for a target. Nothing in the binary depends on the folder, the user or the machine.
func (r *release) buildBinary(t target, to string) error {
	const pkg = "github.com/weirhq/weir/internal/version."
	args := []string{"build", "-trimpath", "-buildvcs=false", "-o", to, "-ldflags", strings.Join([]string{"-s", "-w",
		"-X", pkg + "release=" + r.Version, "-X", pkg + "commit=" + r.Commit,
		"-X", pkg + "date=" + r.Date.Format(time.RFC3339)}, " ")}
	if r.Profile != "" {
		args = append(args, "-pgo="+r.Profile)
	}
	_, err := output(r.Root, []string{"CGO_ENABLED=0", "GOOS=" + t.OS, "GOARCH=" + t.Arch, "GOAMD64=v1", "GOARM64=v8.0",
		"GOFLAGS=", "GOWORK=", "GOEXPERIMENT="}, "go", append(args, "./cmd/weir")...)
	return err
}

// A manual is what the command writes about itself.
type manual struct {
	completions string   // folder with weir.bash, weir.zsh and weir.fish
	pages       []string // files of man
}

// writeManual runs the binary for this machine.
func (r *release) writeManual() (m manual, err error) {
	here := target{runtime.GOOS, runtime.GOARCH}
	program := r.binary(here)
	if _, err := os.Stat(program); err != nil {
		if err := r.buildBinary(here, program); err != nil {
			return m, err
		}
	}
	m.completions = filepath.Join(r.work, "completions")
	if err := os.MkdirAll(m.completions, 0o755); err != nil {
		return m, err
	}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		text, err := output(r.work, nil, program, "completion", shell)
		if err != nil {
			return m, err
		}
		if err := os.WriteFile(filepath.Join(m.completions, "weir."+shell), []byte(text), 0o644); err != nil {
			return m, err
		}
	}
	pages := filepath.Join(r.work, "man")
	if err := os.MkdirAll(pages, 0o755); err != nil {
		return m, err
	}
	if _, err := output(r.work, []string{sourceDate(r.Date)}, program, "man", pages); err != nil {
		return m, err
	}
	m.pages, err = filepath.Glob(filepath.Join(pages, "*.[1-9]"))
	return m, err
}

// sourceDate is the variable for programs that write a date (https://reproducible-builds.org/specs/source-date-epoch).
func sourceDate(date time.Time) string {
	return "SOURCE_DATE_EPOCH=" + strconv.FormatInt(date.Unix(), 10)
}
