package sinks

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// A Target is the destination of the lines.
type Target int

// The targets.
const (
	File Target = iota // a file of Bench.Dir
	Pipe               // a pipe that this process reads as fast as possible
)

// A Cost is a row's report of one pass together with the counted lines.
type Cost struct {
	Report
	Lines uint64
}

// Lost returns the number of missing events.
func (c Cost) Lost() uint64 { return c.Events + c.Own - c.Lines }

// A Bench runs the rows.
type Bench struct {
	Tool string // the executable of bench/cmd/sinkrow
	Dir  string
}

// passTime is much longer than a pass. It ends a row that hangs.
const passTime = time.Minute

// Pass runs the row in a new process, counts the lines and removes them. It is an error if a row lost events, unless it
// is a peer that may drop them or it counted all of them.
func (b *Bench) Pass(ctx context.Context, r Row, t Target, l Load) (cost Cost, err error) {
	ctx, cancel := context.WithTimeout(ctx, passTime)
	defer cancel()
	dir, err := os.MkdirTemp(b.Dir, "weir-bench-sinks-")
	if err != nil {
		return Cost{}, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	report := filepath.Join(dir, "report")
	args := []string{"-row", r.Name, "-report", report, "-requests", strconv.Itoa(l.Requests), "-burst",
		strconv.Itoa(l.Burst),
		"-every", l.Every.String(), "-timed", strconv.Itoa(l.Timed)}
	if t == File {
		args = append(args, "-log", filepath.Join(dir, "events.log"))
	}
	cmd := exec.CommandContext(ctx, b.Tool, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	if t == Pipe {
		cost.Lines, err = drain(cmd)
	} else if err = run(cmd); err == nil {
		cost.Lines, err = linesOfLogs(dir)
	}
	if err != nil {
		return Cost{}, fmt.Errorf("%s: %w", r.Name, errors.Join(err, ctx.Err()))
	}
	text, err := os.ReadFile(report)
	if err != nil {
		return Cost{}, err
	}
	if err := json.Unmarshal(text, &cost.Report); err != nil {
		return Cost{}, err
	}
	return cost, r.check(cost)
}

// check compares the counted lines with the logged events.
func (r Row) check(c Cost) error {
	switch {
	case r.Silent && c.Lines == 0:
		return nil
	case c.Lines > c.Events+c.Own:
		return fmt.Errorf("%s: %d events and %d lines", r.Name, c.Events, c.Lines)
	case r.Kind != Buffered && c.Lost() != c.Dropped:
		return fmt.Errorf("%s: %d of %d events are missing, and it counted %d as dropped", r.Name, c.Lost(),
			c.Events, c.Dropped)
	}
	return nil
}

// run waits for the process. If it fails, the error contains its stderr, where zerolog's diode reports dropped events.
func run(cmd *exec.Cmd) error {
	var said bytes.Buffer
	cmd.Stderr = &said
	return ended(cmd.Run(), said.Bytes())
}

func ended(err error, said []byte) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %s", err, said[max(0, len(said)-500):])
}

// drain runs the process and counts the lines of its stdout.
func drain(cmd *exec.Cmd) (lines uint64, err error) {
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	lines, err = countLines(out)
	return lines, errors.Join(err, ended(cmd.Wait(), said.Bytes()))
}

// linesOfLogs counts the lines of the logs in dir. phuslu/log uses another file name.
func linesOfLogs(dir string) (lines uint64, err error) {
	return lines, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || filepath.Ext(path) != ".log" {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		n, err := countLines(f)
		lines += n
		return err
	})
}

// countLines counts the lines of r. An incomplete last line is an error.
func countLines(r io.Reader) (lines uint64, err error) {
	buf := make([]byte, 64<<10)
	last := byte('\n')
	for {
		n, err := r.Read(buf)
		if n > 0 {
			lines += uint64(bytes.Count(buf[:n], []byte("\n")))
			last = buf[n-1]
		}
		switch {
		case err == io.EOF && last != '\n':
			return lines, errors.New("the last line is not whole")
		case err == io.EOF:
			return lines, nil
		case err != nil:
			return lines, err
		}
	}
}
