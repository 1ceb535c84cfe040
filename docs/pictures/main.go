// Pictures makes the pictures of README.md and docs that show a running program: two screens of weir load, the top of a
// report of weir lab, and the top of the dashboard.
//
//	make pictures
//	go run ./docs/pictures dashboard
//
// It builds weir, runs it for about three minutes and writes into docs. Arguments choose from load, lab and dashboard.
// Nothing else should run on the machine. It needs Chromium, a pseudo-terminal and the ports 8080, 20000 and 20001.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

const (
	docs     = "docs" // the folder of the pictures
	atMost   = 5 * time.Minute
	maxBytes = 200_000 // of a picture
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), atMost)
	defer cancel()
	if err := run(ctx, os.Args[1:]); err != nil {
		if ctx.Err() != nil {
			err = fmt.Errorf("the runs took more than %v: %w", atMost, err)
		}
		fmt.Fprintf(os.Stderr, "pictures: error: %v\n", err)
		os.Exit(1)
	}
}

// kinds are the kinds of pictures in their order. Each function gets weir, a folder for its own files, and the folder of
// the pictures.
var kinds = []struct {
	name string
	make func(ctx context.Context, weir, dir, made string) error
}{{"load", loadPictures}, {"lab", labPictures}, {"dashboard", dashboardPictures}}

// run makes the pictures of the chosen kinds in a temporary folder, and moves them to docs when all are complete.
// Without a choice, it makes all.
func run(ctx context.Context, chosen []string) error {
	dir, err := os.MkdirTemp("", "weir-pictures-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	weir, made := filepath.Join(dir, "weir"), filepath.Join(dir, "made")
	if err := errors.Join(os.Mkdir(made, 0o755), command(ctx, "go", "build", "-o", weir, "./cmd/weir")); err != nil {
		return err
	}
	for _, kind := range kinds {
		if len(chosen) > 0 && !slices.Contains(chosen, kind.name) {
			continue
		}
		if err := kind.make(ctx, weir, dir, made); err != nil {
			return err
		}
	}
	pictures, err := os.ReadDir(made)
	if err != nil {
		return err
	}
	for _, p := range pictures {
		content, err := os.ReadFile(filepath.Join(made, p.Name()))
		if err != nil {
			return err
		}
		if len(content) > maxBytes {
			return fmt.Errorf("%s has %d bytes, want at most %d", p.Name(), len(content), maxBytes)
		}
		if err := os.WriteFile(filepath.Join(docs, p.Name()), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// command runs a program with its output on stderr. When the time is over it interrupts the program, so that a lab
// stops its service.
func command(ctx context.Context, name string, args ...string) error {
	c := exec.CommandContext(ctx, name, args...)
	c.Stdout, c.Stderr = os.Stderr, os.Stderr
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.WaitDelay = 10 * time.Second
	if err := c.Run(); err != nil {
		return fmt.Errorf("%s: %w", c, err)
	}
	return nil
}

// blocking configures a front door whose requests wait for its log, so that the report has something to find.
const blocking = `listen: 127.0.0.1:20000
admin: off
log: {queue: {size: 64KiB, when_full: block}}
drain: {delay: off}
routes:
  - {match: "/{path...}", respond: {status: 200, text: hello}}
`

// labPictures takes screenshots of the top of a report, in light and in dark.
func labPictures(ctx context.Context, weir, dir, made string) error {
	chromium, err := anyOf("chromium", "chromium-browser", "google-chrome")
	if err != nil {
		return err
	}
	report, config := filepath.Join(dir, "report"), filepath.Join(dir, "weir.yaml")
	if err := os.WriteFile(config, []byte(blocking), 0o644); err != nil {
		return err
	}
	err = command(ctx, weir, "lab", "run", "log-cost", "--quick", "--repeats", "8", "--duration", "1s",
		"--set", "matrix.service.output=[null, pipe, pipe 256KiB/s]", "--set", "load.connections=4",
		"--out", report, "--", weir, "serve", "--config", config, "--listen", "127.0.0.1:${port}")
	if err != nil {
		return err
	}
	for name, scheme := range map[string]string{"lab-report.png": "1", "lab-report-dark.png": "0"} {
		err := command(ctx, chromium, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
			"--window-size=1200,960", "--blink-settings=preferredColorScheme="+scheme,
			"--screenshot="+filepath.Join(made, name), "file://"+filepath.Join(report, "report.html"))
		if err != nil {
			return err
		}
	}
	return nil
}
