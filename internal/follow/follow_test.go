package follow_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/weirhq/weir/internal/follow"
	"github.com/weirhq/weir/internal/testkit"
)

func open(t *testing.T, name string, start follow.Start) *follow.File {
	t.Helper()
	f, err := follow.Open(name, start)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// available reads all available data, with a bar where the file was switched.
func available(t *testing.T, f *follow.File) string {
	t.Helper()
	var b strings.Builder
	buf := make([]byte, 1000)
	for {
		n, err := f.Read(buf)
		b.Write(buf[:n])
		switch {
		case err == io.EOF:
			return b.String()
		case errors.Is(err, follow.ErrSwitched):
			b.WriteByte('|')
		case err != nil:
			t.Fatal(err)
		}
	}
}

func wantAvailable(t *testing.T, f *follow.File, want string) {
	t.Helper()
	if got := available(t, f); got != want {
		t.Errorf("got %q want %q", got, want)
	}
}

func TestAppendedLinesAreRead(t *testing.T) {
	name := filepath.Join(t.TempDir(), "log")
	testkit.AppendFile(t, name, "a\nb\n")
	f := open(t, name, follow.Start{})
	wantAvailable(t, f, "a\nb\n")
	wantAvailable(t, f, "")
	testkit.AppendFile(t, name, "c")
	wantAvailable(t, f, "c")
}

// TestRenamedFileIsReadToItsEnd continues to write to the old file after the new one was created,
// as happens between logrotate and its signal.
func TestRenamedFileIsReadToItsEnd(t *testing.T) {
	name := filepath.Join(t.TempDir(), "log")
	testkit.AppendFile(t, name, "a\n")
	f := open(t, name, follow.Start{})
	wantAvailable(t, f, "a\n")
	testkit.NoError(t, os.Rename(name, name+".1"))
	testkit.AppendFile(t, name+".1", "b\n")
	wantAvailable(t, f, "b\n")
	testkit.AppendFile(t, name, "")
	wantAvailable(t, f, "")
	testkit.AppendFile(t, name+".1", "c\n")
	wantAvailable(t, f, "c\n")
	testkit.AppendFile(t, name+".1", "d\n")
	testkit.AppendFile(t, name, "e\n")
	wantAvailable(t, f, "d\n|e\n")
	testkit.AppendFile(t, name, "f\n")
	wantAvailable(t, f, "f\n")
}

// TestFileRenamedTwiceIsReadWhole rotates twice before the first file is read to its end.
func TestFileRenamedTwiceIsReadWhole(t *testing.T) {
	name := filepath.Join(t.TempDir(), "log")
	testkit.AppendFile(t, name, "abcd")
	f := open(t, name, follow.Start{})
	buf := make([]byte, 1)
	var got []byte
	for i := range 3 {
		n, err := f.Read(buf)
		testkit.NoError(t, err)
		got = append(got, buf[:n]...)
		testkit.NoError(t, os.Rename(name, fmt.Sprint(name, ".", i)))
		testkit.AppendFile(t, name, fmt.Sprint(i))
	}
	got = append(got, available(t, f)...)
	if want := "abcd|0|1|2"; string(got) != want {
		t.Errorf("got %q want %q", got, want)
	}
}

func TestRemovedFileIsReplaced(t *testing.T) {
	name := filepath.Join(t.TempDir(), "log")
	testkit.AppendFile(t, name, "a\n")
	f := open(t, name, follow.Start{})
	testkit.NoError(t, os.Remove(name))
	wantAvailable(t, f, "a\n")
	testkit.AppendFile(t, name, "b\n")
	wantAvailable(t, f, "|b\n")
}

func TestTruncatedFileIsReadAnew(t *testing.T) {
	name := filepath.Join(t.TempDir(), "log")
	testkit.AppendFile(t, name, "a\nb\n")
	f := open(t, name, follow.Start{})
	wantAvailable(t, f, "a\nb\n")
	testkit.NoError(t, os.Truncate(name, 0))
	wantAvailable(t, f, "|")
	testkit.AppendFile(t, name, "c\n")
	wantAvailable(t, f, "c\n")
	testkit.NoError(t, os.Truncate(name, 0))
	testkit.AppendFile(t, name, "a line that is longer than all there was\n")
	wantAvailable(t, f, "|a line that is longer than all there was\n")
}

func TestReadingStartsAtTheLastLines(t *testing.T) {
	long := strings.Repeat("x", 100<<10)
	for _, c := range []struct {
		text  string
		lines int
		want  string
	}{
		{"a\nb\nc\n", 2, "b\nc\n"},
		{"a\nb\nc", 2, "b\nc"},
		{"a\nb\n", 2, "a\nb\n"},
		{"a\nb\n", 3, "a\nb\n"},
		{"a\nb\n", 0, ""},
		{"a\n\n\n", 2, "\n\n"},
		{"", 5, ""},
		{long + "\n" + long + "\nb\n", 2, long + "\nb\n"},
		{"a\n" + long, 1, long},
	} {
		r := strings.NewReader(c.text)
		offset, err := follow.Start{Lines: c.lines, FromEnd: true}.Offset(r, int64(len(c.text)))
		if got := c.text[offset:]; err != nil || got != c.want {
			t.Errorf("last %d of %.20q: got %.20q, %v want %.20q", c.lines, c.text, got, err, c.want)
		}
	}
	name := filepath.Join(t.TempDir(), "log")
	testkit.AppendFile(t, name, "a\nb\nc\n")
	f := open(t, name, follow.Start{Lines: 1, FromEnd: true})
	wantAvailable(t, f, "c\n")
	testkit.NoError(t, os.Truncate(name, 0))
	testkit.AppendFile(t, name, "more than there was\n")
	wantAvailable(t, f, "|more than there was\n")
}

func TestFirstLinesAreSkipped(t *testing.T) {
	long := strings.Repeat("x", 100<<10)
	for _, c := range []struct {
		text  string
		lines int
		want  string
	}{
		{"a\nb\nc\n", 0, "a\nb\nc\n"},
		{"a\nb\nc\n", 1, "b\nc\n"},
		{"a\nb\nc", 2, "c"},
		{"a\nb\n", 2, ""},
		{"a\nb", 5, ""},
		{"\n\na\n", 2, "a\n"},
		{"", 5, ""},
		{long + "\n" + long + "\nb\n", 2, "b\n"},
		{long + "\n" + long + "\n", 1, long + "\n"},
	} {
		r := strings.NewReader(c.text)
		offset, err := follow.Start{Lines: c.lines}.Offset(r, int64(len(c.text)))
		if got := c.text[offset:]; err != nil || got != c.want {
			t.Errorf("%.20q without its first %d lines: got %.20q, %v want %.20q", c.text, c.lines, got, err, c.want)
		}
	}
	name := filepath.Join(t.TempDir(), "log")
	testkit.AppendFile(t, name, "a\nb\n")
	f := open(t, name, follow.Start{Lines: 1})
	wantAvailable(t, f, "b\n")
	testkit.AppendFile(t, name, "c\n")
	wantAvailable(t, f, "c\n")
}

func TestOpenRefusesFoldersAndMissingFiles(t *testing.T) {
	dir := t.TempDir()
	if _, err := follow.Open(filepath.Join(dir, "missing"), follow.Start{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that does not exist: got %v", err)
	}
	if _, err := follow.Open(dir, follow.Start{}); !errors.Is(err, follow.ErrNotRegular) {
		t.Errorf("a folder: got %v", err)
	}
}

// TestFloodLosesNoLine rotates files under a fast writer, which only waits until the
// reader has seen each file, and counts the lines.
func TestFloodLosesNoLine(t *testing.T) {
	const rotations, each = 20, 3000
	name := filepath.Join(t.TempDir(), "log")
	testkit.AppendFile(t, name, "")
	f := open(t, name, follow.Start{})
	switched := make(chan struct{}, rotations)
	switched <- struct{}{} // the first file is open already
	var writer sync.WaitGroup
	defer writer.Wait()
	writer.Go(func() {
		for r := range rotations {
			if err := writeAndRename(name, r*each, each, switched); err != nil {
				t.Error(err)
				return
			}
		}
	})
	var lines follow.Lines
	next := 0
	emit := func(line []byte, whole bool) error {
		if got, want := string(line), fmt.Sprintf("%d\n", next); got != want || !whole {
			return fmt.Errorf("got %q want %q", got, want)
		}
		next++
		return nil
	}
	defer close(switched)
	buf := make([]byte, 4096)
	for next < rotations*each && !t.Failed() {
		n, err := f.Read(buf)
		if err != nil && err != io.EOF && !errors.Is(err, follow.ErrSwitched) {
			t.Fatal(err)
		}
		testkit.NoError(t, lines.Cut(buf[:n], emit))
		if errors.Is(err, follow.ErrSwitched) {
			testkit.NoError(t, lines.End(emit))
			switched <- struct{}{}
		}
	}
}

// writeAndRename writes numbers to a file that is renamed in the meantime.
func writeAndRename(name string, from, count int, seen <-chan struct{}) error {
	out, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	for i := range count {
		if _, err := fmt.Fprintln(out, from+i); err != nil {
			return err
		}
		if i == count/2 {
			<-seen
			if err := os.Rename(name, fmt.Sprint(name, ".", from)); err != nil {
				return err
			}
		}
	}
	return out.Close()
}

func TestLinesArePutTogether(t *testing.T) {
	long := strings.Repeat("x", follow.MaxLine)
	for _, c := range []struct {
		name  string
		parts []string
		want  []string // pieces of long lines are in brackets
	}{
		{"lines in one part", []string{"a\nb\n"}, []string{"a\n", "b\n"}},
		{"lines in parts", []string{"a", "b", "\nc", "\n\n"}, []string{"ab\n", "c\n", "\n"}},
		{"no newline at the end", []string{"a\nb"}, []string{"a\n", "b"}},
		{"the longest line", []string{long[1:], "\n", "b\n"}, []string{long[1:] + "\n", "b\n"}},
		{"a line too long by its newline", []string{long, "\n", "b\n"}, []string{"[" + long + "]", "[\n]", "b\n"}},
		{"a longer line", []string{"a\n", long, "y", "z\nb\n"}, []string{"a\n", "[" + long + "]", "[y]", "[z\n]", "b\n"}},
		{"longer than a part may be", []string{long + "yz\nb\n"}, []string{"[" + long + "yz\n]", "b\n"}},
		{"a longer line without an end", []string{long, "y"}, []string{"[" + long + "]", "[y]"}},
	} {
		var lines follow.Lines
		var got []string
		emit := func(line []byte, whole bool) error {
			if whole {
				got = append(got, string(line))
			} else {
				got = append(got, "["+string(line)+"]")
			}
			return nil
		}
		for _, part := range c.parts {
			testkit.NoError(t, lines.Cut([]byte(part), emit))
		}
		testkit.NoError(t, lines.End(emit))
		if fmt.Sprint(len(got), got) != fmt.Sprint(len(c.want), c.want) {
			t.Errorf("%s: got %.100q want %.100q", c.name, got, c.want)
		}
	}
}

func FuzzLines(f *testing.F) {
	f.Add([]byte("a\nb\n\nc"), uint8(2))
	f.Fuzz(func(t *testing.T, text []byte, step uint8) {
		var lines follow.Lines
		var got [][]byte
		emit := func(line []byte, whole bool) error {
			got = append(got, bytes.Clone(line))
			return nil
		}
		for rest := text; len(rest) > 0; {
			n := min(len(rest), int(step)+1)
			testkit.NoError(t, lines.Cut(rest[:n], emit))
			rest = rest[n:]
		}
		testkit.NoError(t, lines.End(emit))
		want := bytes.SplitAfter(text, []byte("\n"))
		if n := len(want) - 1; len(want[n]) == 0 {
			want = want[:n]
		}
		if !bytes.Equal(bytes.Join(got, []byte("|")), bytes.Join(want, []byte("|"))) {
			t.Errorf("got %q want %q", got, want)
		}
	})
}

func ExampleLines() {
	var lines follow.Lines
	emit := func(line []byte, whole bool) error {
		fmt.Printf("%q\n", line)
		return nil
	}
	lines.Cut([]byte("first\nsec"), emit)
	lines.Cut([]byte("ond\n"), emit)
	// Output:
	// "first\n"
	// "second\n"
}
