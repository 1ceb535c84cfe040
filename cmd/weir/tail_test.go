package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
	"github.com/weirhq/weir/internal/testkit"
)

// eventLine returns an event with a number.
func eventLine(n int) string {
	return fmt.Sprintf(`{"created_at":"2026-11-21T09:30:15.128Z","namespace":"n","event":"e","severity":3,"data":{"n":%d}}`+"\n", n)
}

// output returns the stdout of a process so far.
func output(t *testing.T, p *process) string {
	t.Helper()
	b, err := os.ReadFile(p.stdout)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// awaitOutput waits until the stdout of a process contains a text.
func awaitOutput(t *testing.T, p *process, part string) {
	t.Helper()
	testkit.Await(t, fmt.Sprintf("%.80q on stdout", part), func() bool { return strings.Contains(output(t, p), part) })
}

// wantNumbered checks that stdout consists of the events 0 to count-1 in order.
func wantNumbered(t *testing.T, p *process, count int) {
	t.Helper()
	n := 0
	for line := range strings.Lines(output(t, p)) {
		if line != eventLine(n) {
			t.Fatalf("line %d: got %q want %q", n+1, line, eventLine(n))
		}
		n++
	}
	if n != count {
		t.Fatalf("got %d events want %d", n, count)
	}
}

// TestTailFollowsRotation renames the file several times. Each time the writer continues
// in the old file for a while.
func TestTailFollowsRotation(t *testing.T) {
	t.Parallel()
	const rotations, each = 5, 2000
	name := filepath.Join(t.TempDir(), "weir.log")
	testkit.AppendFile(t, name, "")
	p := start(t, "tail", "-f", "-n", "100000", name)
	n := 0
	burst := func(name string) {
		f, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for range each {
			if _, err := f.WriteString(eventLine(n)); err != nil {
				t.Fatal(err)
			}
			n++
		}
	}
	for i := range rotations {
		burst(name)
		awaitOutput(t, p, eventLine(i*2*each)) // weir tail reads this file
		old := fmt.Sprint(name, ".", i)
		if err := os.Rename(name, old); err != nil {
			t.Fatal(err)
		}
		testkit.AppendFile(t, name, "")
		burst(old)
	}
	awaitOutput(t, p, eventLine(n-1))
	p.signal(syscall.SIGINT)
	p.wait(cli.ExitOK)
	wantNumbered(t, p, n)
}

// TestTailFollowsTruncation truncates the file several times, as copytruncate does.
func TestTailFollowsTruncation(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "weir.log")
	testkit.AppendFile(t, name, eventLine(0)+eventLine(1)+"no newline")
	p := start(t, "tail", "-f", name)
	for n := 2; n < 6; n++ {
		awaitOutput(t, p, eventLine(n-1))
		if err := os.Truncate(name, 0); err != nil {
			t.Fatal(err)
		}
		testkit.AppendFile(t, name, eventLine(n))
	}
	awaitOutput(t, p, eventLine(5))
	p.signal(syscall.SIGTERM)
	p.wait(cli.ExitOK)
	if got, want := strings.Count(output(t, p), "\n"), 7; got != want {
		t.Errorf("got %d lines want %d:\n%s", got, want, output(t, p))
	}
}

// TestTailBeginsNearTheEnd checks that --follow begins with the last ten lines.
func TestTailBeginsNearTheEnd(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "weir.log")
	for n := range 20 {
		testkit.AppendFile(t, name, eventLine(n))
	}
	p := start(t, "tail", "-f", name)
	awaitOutput(t, p, eventLine(19))
	p.signal(syscall.SIGINT)
	p.wait(cli.ExitOK)
	if got := output(t, p); !strings.HasPrefix(got, eventLine(10)) {
		t.Errorf("begins with %.100q want %q", got, eventLine(10))
	}
}

// pipeInto starts weir with a pipe as its stdin.
func pipeInto(t *testing.T, args ...string) (*process, *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p := prepare(t, args...)
	p.cmd.Stdin = r
	err = p.start()
	r.Close()
	if err != nil {
		w.Close()
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return p, w
}

func writeTo(t *testing.T, w io.Writer, text string) {
	t.Helper()
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
}

// TestTailIgnoresTheFirstInterruptOfAPipe checks that the first SIGINT is ignored if weir tail reads a
// pipe, so that it reads the last lines of the writer, and that SIGTERM ends it.
func TestTailIgnoresTheFirstInterruptOfAPipe(t *testing.T) {
	t.Parallel()
	p, w := pipeInto(t, "tail")
	writeTo(t, w, eventLine(0))
	awaitOutput(t, p, eventLine(0))
	p.signal(syscall.SIGINT)
	writeTo(t, w, eventLine(1)+"no newline")
	awaitOutput(t, p, eventLine(1))
	w.Close()
	p.wait(cli.ExitOK)
	if got, want := output(t, p), eventLine(0)+eventLine(1)+"no newline\n"; got != want {
		t.Errorf("got %q want %q", got, want)
	}

	p, w = pipeInto(t, "tail", "--stats")
	writeTo(t, w, strings.Repeat(eventLine(0), 5000)) // more than a pipe holds, so weir tail is reading
	p.signal(syscall.SIGINT)
	p.signal(syscall.SIGTERM)
	p.wait(cli.ExitOK)
	if got := output(t, p); !strings.Contains(got, "EVENTS") {
		t.Errorf("no table at the end: %q", got)
	}
}

// TestClosedOutputEndsTail closes the reader of stdout: weir tail ends without an error.
func TestClosedOutputEndsTail(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "weir.log")
	testkit.AppendFile(t, name, strings.Repeat(eventLine(7), 100_000))
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	p := prepare(t, "tail", name)
	p.startInto(w)
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil || line != eventLine(7) {
		t.Errorf("first line: %q, %v", line, err)
	}
	r.Close()
	p.wait(cli.ExitOK)
	if said := p.stderr.String(); said != "" {
		t.Errorf("stderr: %q", said)
	}
}

// TestTailEscapesControlsForPeople checks that control characters in a line that is not an
// event are unchanged in raw form and escaped in human form.
func TestTailEscapesControlsForPeople(t *testing.T) {
	t.Parallel()
	const hostile = "\x1b]0;title\a\x1b[2J\u009b31m\u202e\xff\n"
	for format, want := range map[string]string{
		"raw":   hostile,
		"human": `\u001b]0;title\u0007\u001b[2J\u009b31m\u202e` + "\uFFFD\n",
	} {
		p, w := pipeInto(t, "tail", "--format", format)
		writeTo(t, w, hostile)
		w.Close()
		p.wait(cli.ExitOK)
		if got := output(t, p); got != want {
			t.Errorf("%s: got %q want %q", format, got, want)
		}
	}
}

// TestTailNamesFollowedFiles checks the file names in the output of two followed files.
func TestTailNamesFollowedFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a\x1b.log"), filepath.Join(dir, "b.log")
	testkit.AppendFile(t, a, "")
	testkit.AppendFile(t, b, "")
	p := start(t, "tail", "-f", "--format", "human", a, b)
	for _, step := range []struct{ name, text string }{
		{a, "one\n"}, {a, "two\n"}, {b, "three\n"}, {a, "four\n"},
	} {
		testkit.AppendFile(t, step.name, step.text)
		awaitOutput(t, p, step.text)
	}
	p.signal(syscall.SIGINT)
	p.wait(cli.ExitOK)
	want := strings.ReplaceAll("==> a <==\none\ntwo\n\n==> b <==\nthree\n\n==> a <==\nfour\n", "==> ", "==> "+dir+"/")
	want = strings.NewReplacer("/a <", `/a\u001b.log <`, "/b <", "/b.log <").Replace(want)
	if got := output(t, p); got != want {
		t.Errorf("got %q want %q", got, want)
	}
}
