package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
	"github.com/weirhq/weir/internal/testkit"
)

// TestTailMemoryIsBounded filters 64 MB of events, and then a line of 100 MB, and limits
// the peak of the memory. Under the race detector, which multiplies memory and
// time, it sends less and only checks the output.
func TestTailMemoryIsBounded(t *testing.T) {
	t.Parallel()
	const mayGrow = 20 << 20
	events, longLine := 64<<20, 100<<20
	if raceEnabled {
		events, longLine = 8<<20, 10<<20
	}
	p, w := pipeInto(t, "tail", "--where", "data.n == 1", "--format", "ltsv")
	block := strings.Repeat(eventLine(2), 10_000)
	writeTo(t, w, block+eventLine(1)) // excludes memory that is allocated once
	awaitOutput(t, p, "\tn:1\n")
	before := peakMemory(t, p)
	for sent := 0; sent < events; sent += len(block) {
		writeTo(t, w, block)
	}
	long := strings.Repeat("x", 1<<20)
	for range longLine / len(long) {
		writeTo(t, w, long)
	}
	writeTo(t, w, "the end\n")
	testkit.Await(t, "the end of the long line", func() bool {
		info, err := os.Stat(p.stdout)
		return err == nil && info.Size() > int64(longLine)
	})
	if grown := peakMemory(t, p) - before; grown >= mayGrow && !raceEnabled {
		t.Errorf("the process has grown by %d kB want less than %d kB", grown>>10, mayGrow>>10)
	}
	w.Close()
	p.wait(cli.ExitOK)
	lines := strings.SplitAfter(output(t, p), "\n")
	if got, want := len(lines), 3; got != want || len(lines[1]) != longLine+len("the end\n") {
		t.Errorf("got %d lines want %d: an event, and the long line as it was", got, want)
	}
}

// openTerminal returns the two ends of a pseudo-terminal.
func openTerminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { master.Close() })
	fd := int(master.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return master, slave
}

// onTerminal runs weir with a terminal as its stdout, and returns the output.
func onTerminal(t *testing.T, input string, env []string, args ...string) string {
	t.Helper()
	master, slave := openTerminal(t)
	p := prepare(t, args...)
	p.cmd.Stdin, p.cmd.Stdout = strings.NewReader(input), slave
	p.cmd.Env = append(p.cmd.Env, env...)
	err := p.start()
	slave.Close()
	if err != nil {
		t.Fatal(err)
	}
	var shown bytes.Buffer
	var reading sync.WaitGroup
	reading.Go(func() { shown.ReadFrom(master) }) // ends when the last slave is closed
	p.wait(cli.ExitOK)
	reading.Wait()
	return strings.ReplaceAll(shown.String(), "\r\n", "\n")
}

// TestTailUsesColorsOnTerminal checks colours and escapes on a terminal.
func TestTailUsesColorsOnTerminal(t *testing.T) {
	t.Parallel()
	const hostile = `{"created_at":"2026-11-21T09:30:15.128Z","namespace":"n","event":"\u001b[2J","severity":1}` + "\n\x1b[2J\n"
	for _, c := range []struct {
		name string
		env  []string
		args []string
		want string
	}{
		{"people", nil, []string{"tail"}, "09:30:15.128 \x1b[31mERROR\x1b[0m \\u001b[2J\n\\u001b[2J\n"},
		{"NO_COLOR", []string{"NO_COLOR=1"}, []string{"tail"}, "09:30:15.128 ERROR \\u001b[2J\n\\u001b[2J\n"},
		{"no colour asked for", nil, []string{"tail", "--color", "never"}, "09:30:15.128 ERROR \\u001b[2J\n\\u001b[2J\n"},
		{"raw", nil, []string{"tail", "--format", "raw"}, strings.ReplaceAll(hostile, "\x1b", `\u001b`)},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := onTerminal(t, hostile, append([]string{"TZ=UTC", "NO_COLOR="}, c.env...), c.args...)
			if got != c.want {
				t.Errorf("got %q want %q", got, c.want)
			}
		})
	}
}

// TestTailAnnouncesTypedInput checks the message that weir tail waits for typed input.
func TestTailAnnouncesTypedInput(t *testing.T) {
	t.Parallel()
	master, slave := openTerminal(t)
	defer slave.Close()
	p := prepare(t, "tail")
	p.cmd.Stdin = slave
	if err := p.start(); err != nil {
		t.Fatal(err)
	}
	p.says(`^weir: tail reads what is typed here, until Ctrl-D; weir tail FILE reads a file\n$`)
	writeTo(t, master, "typed\n\x04")
	p.wait(cli.ExitOK)
	if got, want := output(t, p), "typed\n"; got != want {
		t.Errorf("got %q want %q", got, want)
	}
}

// TestTailEndsBeforeAWriterComes ends weir tail while it opens a named pipe.
func TestTailEndsBeforeAWriterComes(t *testing.T) {
	t.Parallel()
	name := namedPipe(t)
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		p := start(t, "tail", name)
		testkit.Await(t, "the pipe to be opened", func() bool { return isOpening(t, p) })
		p.signal(sig)
		p.wait(cli.ExitOK)
	}
}

// TestTailShowsFilesBeforeANamedPipe reads a file and a named pipe. The lines of the file must be
// shown before the pipe has a writer.
func TestTailShowsFilesBeforeANamedPipe(t *testing.T) {
	t.Parallel()
	name := namedPipe(t)
	first := filepath.Join(t.TempDir(), "first.log")
	testkit.AppendFile(t, first, eventLine(0))
	p := start(t, "tail", "-n", "2", first, name)
	awaitOutput(t, p, eventLine(0))
	w, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	writeTo(t, w, "not the last\n"+eventLine(1)+eventLine(2))
	w.Close()
	p.wait(cli.ExitOK)
	wantNumbered(t, p, 3)
}

// TestTailFollowsAfterAFailedOpen rotates a file while weir tail may open none.
func TestTailFollowsAfterAFailedOpen(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "weir.log")
	testkit.AppendFile(t, name, eventLine(0))
	p := start(t, "tail", "-f", name)
	awaitOutput(t, p, eventLine(0))
	var limit unix.Rlimit
	testkit.NoError(t, unix.Prlimit(p.cmd.Process.Pid, unix.RLIMIT_NOFILE, nil, &limit))
	testkit.NoError(t, unix.Prlimit(p.cmd.Process.Pid, unix.RLIMIT_NOFILE, &unix.Rlimit{Max: limit.Max}, nil))
	testkit.NoError(t, os.Rename(name, name+".1"))
	testkit.AppendFile(t, name+".1", eventLine(1))
	testkit.AppendFile(t, name, eventLine(2))
	p.says(`^weir: warning: \S+/weir\.log: too many open files; trying again\n$`)
	awaitOutput(t, p, eventLine(1))
	testkit.NoError(t, unix.Prlimit(p.cmd.Process.Pid, unix.RLIMIT_NOFILE, &limit, nil))
	awaitOutput(t, p, eventLine(2))
	p.signal(syscall.SIGINT)
	p.wait(cli.ExitOK)
	wantNumbered(t, p, 3)
}

func TestTailFollowsNoPipe(t *testing.T) {
	t.Parallel()
	p := start(t, "tail", "--follow", namedPipe(t))
	p.wait(cli.ExitMisuse)
	said := p.stderr.String()
	if !strings.Contains(said, "pipe is not a regular file\nweir: hint: --follow needs a regular file") {
		t.Errorf("stderr: %q", said)
	}
}

func namedPipe(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestTailEndsWhileItsOutputIsBlocked sends signals while nobody reads the output.
func TestTailEndsWhileItsOutputIsBlocked(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "weir.log")
	testkit.AppendFile(t, name, strings.Repeat(eventLine(7), 100_000))
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		p := prepare(t, "tail", "-f", "-n", "+1", name)
		p.startInto(w)
		size, err := unix.FcntlInt(r.Fd(), unix.F_GETPIPE_SZ, 0)
		if err != nil {
			t.Fatal(err)
		}
		testkit.AwaitEqual(t, "bytes in the pipe", func() int {
			n, err := unix.IoctlGetInt(int(r.Fd()), unix.TIOCINQ)
			testkit.NoError(t, err)
			return n
		}, size)
		p.signal(sig)
		p.wait(cli.ExitInterrupted)
		if said := p.stderr.String(); said != "" {
			t.Errorf("%v: stderr: %q", sig, said)
		}
	}
}

func TestTailReportsAFullDiskOnce(t *testing.T) {
	t.Parallel()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	for _, args := range [][]string{{"tail"}, {"tail", "--stats"}} {
		p := prepare(t, args...)
		p.cmd.Stdin, p.cmd.Stdout = strings.NewReader(eventLine(0)), full
		if err := p.start(); err != nil {
			t.Fatal(err)
		}
		p.wait(cli.ExitProblem)
		said := p.stderr.String()
		if !strings.HasPrefix(said, "weir: error: write ") || strings.Count(said, "\n") != 1 {
			t.Errorf("%v: stderr: %q want one line", args, said)
		}
	}
}

// isOpening reports whether a thread of the process is in the system call openat.
func isOpening(t *testing.T, p *process) bool {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/syscall", p.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range threads {
		call, err := os.ReadFile(name)
		if errors.Is(err, os.ErrPermission) {
			t.Skip(err)
		}
		if strings.HasPrefix(string(call), fmt.Sprint(unix.SYS_OPENAT, " ")) {
			return true
		}
	}
	return false
}
