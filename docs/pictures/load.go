package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/creack/pty"
)

const address = "127.0.0.1:8080"

// loadPictures records a run of weir load: its screen as an animation, and the report at its end.
func loadPictures(ctx context.Context, weir, _, made string) error {
	stop, err := startBackend(ctx, weir)
	if err != nil {
		return err
	}
	defer stop()
	args := []string{"load", "-r", "2000", "-d", "10s", "http://" + address + "/"}
	rows, frames, err := record(exec.CommandContext(ctx, weir, args...))
	if err != nil {
		return err
	}
	prompt := "$ weir"
	for _, a := range args {
		prompt += " " + a
	}
	live := animation("weir load while it runs", prompt, sampled(frames))
	report := still("the report of weir load", prompt, rows)
	return errors.Join(os.WriteFile(filepath.Join(made, "load-live.svg"), live, 0o644),
		os.WriteFile(filepath.Join(made, "load-report.svg"), report, 0o644))
}

// startBackend starts something to load. The returned function stops it.
func startBackend(ctx context.Context, weir string) (stop func(), err error) {
	backend := exec.CommandContext(ctx, "./weir", "backend", "--listen", address, "--latency", "2ms")
	backend.Dir, backend.Stderr = filepath.Dir(weir), os.Stderr // its command is in the report
	if err := backend.Start(); err != nil {
		return nil, err
	}
	ended := make(chan struct{})
	go func() {
		backend.Wait()
		close(ended)
	}()
	stop = func() {
		backend.Process.Signal(os.Interrupt)
		<-ended
	}
	for {
		if c, err := net.Dial("tcp", address); err == nil {
			c.Close()
			return stop, nil
		}
		select {
		case <-ended:
			return nil, fmt.Errorf("weir backend on %s: %v", address, backend.ProcessState)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// record runs a program in a terminal. It returns the screen at the end, and the frames.
func record(program *exec.Cmd) (end [][]cell, frames []frame, err error) {
	program.Env = append(os.Environ(), "TERM=xterm-256color", "NO_COLOR=")
	terminal, err := pty.StartWithSize(program, &pty.Winsize{Rows: lines, Cols: columns})
	if err != nil {
		return nil, nil, err
	}
	defer terminal.Close()
	began := time.Now()
	s := &screen{}
	s.drawn = func() { frames = append(frames, frame{time.Since(began), s.copyRows()}) }
	// A pseudo-terminal ends with EIO.
	if _, err := io.Copy(s, terminal); err != nil && !errors.Is(err, syscall.EIO) {
		return nil, nil, err
	}
	if err := program.Wait(); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", program, err)
	}
	if len(frames) == 0 {
		return nil, nil, fmt.Errorf("%s has not drawn a frame", program)
	}
	return s.rows, frames, nil
}

// sampled returns the first frame of each period.
func sampled(frames []frame) []frame {
	var some []frame
	for _, f := range frames {
		if len(some) == 0 || f.at >= some[len(some)-1].at+framePeriod {
			some = append(some, f)
		}
	}
	return some
}
