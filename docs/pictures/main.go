// Pictures makes the pictures of README.md and docs that show a running program: two screens of weir load and the top
// of a report of weir lab.
//
//	make pictures
//
// It builds weir, runs it for about two minutes and writes into docs. Nothing else should run on the machine. It needs
// Chromium, a pseudo-terminal and the port 8080.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

const (
	docs     = "docs" // the folder of the pictures
	atMost   = 3 * time.Minute
	maxBytes = 200_000 // of a picture
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), atMost)
	defer cancel()
	if err := run(ctx); err != nil {
		if ctx.Err() != nil {
			err = fmt.Errorf("the runs took more than %v: %w", atMost, err)
		}
		fmt.Fprintf(os.Stderr, "pictures: error: %v\n", err)
		os.Exit(1)
	}
}

// run makes every picture in a temporary folder, and moves them to docs when all are complete.
func run(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "weir-pictures-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	weir, made := filepath.Join(dir, "weir"), filepath.Join(dir, "made")
	if err := errors.Join(os.Mkdir(made, 0o755), command(ctx, "go", "build", "-o", weir, "./cmd/weir")); err != nil {
		return err
	}
	if err := loadPictures(ctx, weir, made); err != nil {
		return err
	}
	if err := labPictures(ctx, weir, dir, made); err != nil {
		return err
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
drain: {delay: 0s}
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

// anyOf returns the path of the first of the programs that is installed.
func anyOf(names ...string) (string, error) {
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("none of %q is installed", names)
}
