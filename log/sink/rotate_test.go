package sink_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirhq/weir/log/internal/waittest"
	"github.com/weirhq/weir/log/sink"
)

// filesIn returns the paths of the files in a folder, sorted by name.
func filesIn(t *testing.T, folder string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "*"))
	do(t, err)
	slices.Sort(paths)
	return paths
}

// inZone reports whether this process has a local time zone. Otherwise it runs the test again in a process that has: a
// test cannot change time.Local, because timers of others read it.
func inZone(t *testing.T, zone string) bool {
	t.Helper()
	if os.Getenv("TZ") == zone {
		return true
	}
	command := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	command.Env = append(os.Environ(), "TZ="+zone)
	if out, err := command.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("--- PASS: "+t.Name())) {
		t.Errorf("with TZ=%s: %v\n%s", zone, err, out)
	}
	return false
}

// putAside returns the files beside the current one in its folder.
func putAside(t *testing.T, path string) []string {
	t.Helper()
	return slices.DeleteFunc(filesIn(t, filepath.Dir(path)), func(p string) bool { return p == path })
}

// readPlain reads a file, compressed or not.
func readPlain(t *testing.T, path string) string {
	t.Helper()
	text := read(t, path)
	if !strings.HasSuffix(path, ".gz") {
		return text
	}
	z, err := gzip.NewReader(strings.NewReader(text))
	do(t, err)
	plain, err := io.ReadAll(z)
	do(t, err)
	return string(plain)
}

// TestFileIsRotatedBySize writes batches and lines that are longer than a file may be.
func TestFileIsRotatedBySize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "weir.log")
		f := openFile(t, path, sink.FileOptions{MaxBytes: 10})
		write(t, f, "1234\n")
		write(t, f, "1234\n", "5678\n", "9012\n", "345\n", "a line of its own\n", "6\n")
		write(t, f, "78901234\n")
		old := putAside(t, path)
		want := []string{"1234\n1234\n", "5678\n9012\n", "345\n", "a line of its own\n", "6\n"}
		if len(old) != len(want) {
			t.Fatalf("put aside: %v, want %d files", old, len(want))
		}
		for i := range want {
			wantFile(t, old[i], want[i])
		}
		wantFile(t, path, "78901234\n")
		if want := path + ".20000101T000000.000Z"; old[0] != want {
			t.Errorf("the first was named %s, want %s", old[0], want)
		}
	})
}

// TestFullFileIsRotatedByTheNextLine fills a file to its last byte. The file must not be
// rotated before the next line.
func TestFullFileIsRotatedByTheNextLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "weir.log")
	f := openFile(t, path, sink.FileOptions{MaxBytes: 10})
	write(t, f, "123456789\n")
	if old := putAside(t, path); len(old) != 0 {
		t.Errorf("put aside: %v", old)
	}
	write(t, f, "\n")
	wantFile(t, path, "\n")
}

func TestFileIsRotatedDaily(t *testing.T) {
	if !inZone(t, "Etc/GMT+5") { // five hours behind
		return
	}
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "weir.log")
		f := openFile(t, path, sink.FileOptions{Daily: true})
		write(t, f, "evening\n") // of the last day of 1999
		time.Sleep(5*time.Hour - time.Millisecond)
		write(t, f, "last\n")
		time.Sleep(time.Millisecond)
		write(t, f, "first\n")
		time.Sleep(72 * time.Hour)
		write(t, f, "after a silence\n")
		old := putAside(t, path)
		if len(old) != 2 {
			t.Fatalf("put aside: %v, want 2 files", old)
		}
		wantFile(t, old[0], "evening\nlast\n")
		wantFile(t, old[1], "first\n")
		wantFile(t, path, "after a silence\n")
		if want := path + ".20000101T050000.000Z"; old[0] != want {
			t.Errorf("the first was named %s, want %s", old[0], want)
		}
	})
}

// TestFileIsRotatedWithoutMidnight checks a day that begins at one o'clock.
func TestFileIsRotatedWithoutMidnight(t *testing.T) {
	zone, err := time.LoadLocation("America/Sao_Paulo")
	if err != nil {
		t.Skip("it needs the time zones, which are not installed: ", err)
	}
	if !inZone(t, zone.String()) {
		return
	}
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2017, 10, 14, 22, 30, 0, 0, zone)))
		path := filepath.Join(t.TempDir(), "weir.log")
		f := openFile(t, path, sink.FileOptions{Daily: true})
		for range 12 { // ten minutes apart; midnight would be after the ninth
			write(t, f, time.Now().Format(time.DateTime)+"\n")
			time.Sleep(10 * time.Minute)
		}
		old := putAside(t, path)
		if len(old) != 1 {
			t.Fatalf("put aside: %v, want one file", old)
		}
		if got := strings.Count(read(t, old[0]), "2017-10-14"); got != 9 {
			t.Errorf("%d lines of the first day, want 9", got)
		}
		if got := read(t, path); strings.Count(got, "2017-10-15 01:") != 3 {
			t.Errorf("the second day has %q", got)
		}
	})
}

// TestRotationKeepsSymbolicLink rotates the target of a symbolic link, and keeps the link.
func TestRotationKeepsSymbolicLink(t *testing.T) {
	folder := t.TempDir()
	do(t, os.Mkdir(filepath.Join(folder, "real"), 0o700))
	link, path := filepath.Join(folder, "weir.log"), filepath.Join(folder, "real", "weir.log")
	do(t, os.Symlink(path, link))
	f := openFile(t, link, sink.FileOptions{MaxBytes: 5})
	write(t, f, "one\n", "two\n")
	wantFile(t, link, "two\n")
	if old := putAside(t, path); len(old) != 1 {
		t.Errorf("put aside: %v, want one file", old)
	}
}

// TestFileOfYesterdayIsRotated opens a file of the day before.
func TestFileOfYesterdayIsRotated(t *testing.T) {
	path := filepath.Join(t.TempDir(), "weir.log")
	do(t, os.WriteFile(path, []byte("yesterday\n"), 0o600))
	yesterday := time.Now().AddDate(0, 0, -1)
	do(t, os.Chtimes(path, yesterday, yesterday))
	f := openFile(t, path, sink.FileOptions{Daily: true})
	write(t, f, "today\n")
	wantFile(t, path, "today\n")
	if old := putAside(t, path); len(old) != 1 {
		t.Errorf("put aside: %v, want one file", old)
	}
}

// TestRotationRemovesOnlyOldestFiles checks that only the oldest rotated files are removed, and no
// other files.
func TestRotationRemovesOnlyOldestFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "weir.log")
		others := []string{path + ".1", path + ".20000101T000000Z", path + ".20000101T000000.000Z.bak", path + "x.20000101T000000.000Z"}
		for _, other := range others {
			do(t, os.WriteFile(other, []byte("not ours"), 0o600))
		}
		f := openFile(t, path, sink.FileOptions{MaxBytes: 1, Keep: 3})
		for i := range 20 {
			write(t, f, fmt.Sprintf("%d\n", i))
		}
		closeFile(t, f)
		old := slices.DeleteFunc(putAside(t, path), func(p string) bool { return slices.Contains(others, p) })
		if len(old) != 3 {
			t.Fatalf("put aside: %v, want 3 files", old)
		}
		for i, want := range []string{"16\n", "17\n", "18\n"} {
			wantFile(t, old[i], want)
		}
		for _, other := range others {
			wantFile(t, other, "not ours")
		}
	})
}

// TestRotatedNamesStayInOrder checks that names stay unique and in order.
func TestRotatedNamesStayInOrder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "weir.log")
	future := path + ".29991231T235959.999Z.gz"
	do(t, os.WriteFile(future, nil, 0o600))
	f := openFile(t, path, sink.FileOptions{MaxBytes: 1})
	write(t, f, "one\n", "two\n", "three\n")
	old := putAside(t, path)
	if len(old) != 3 || old[0] != future {
		t.Fatalf("put aside: %v, want 3 files", old)
	}
	wantFile(t, old[1], "one\n")
	wantFile(t, old[2], "two\n")
}

// TestRotationCompressesOldFiles waits for the compression in the background.
func TestRotationCompressesOldFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "weir.log")
		f := openFile(t, path, sink.FileOptions{MaxBytes: 5, Keep: 2, Gzip: true, Mode: 0o600})
		write(t, f, "one\n", "two\n", "three\n", "four\n")
		time.Sleep(time.Second)
		synctest.Wait()
		for _, name := range putAside(t, path) {
			if strings.Contains(name, ".gz") {
				t.Errorf("%s is compressed already: others may still write to it", name)
			}
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		old := putAside(t, path)
		if len(old) != 2 || !strings.HasSuffix(old[0], "Z.gz") || !strings.HasSuffix(old[1], "Z.gz") {
			t.Fatalf("put aside: %v, want 2 compressed files", old)
		}
		for i, want := range []string{"two\n", "three\n"} {
			if got := readPlain(t, old[i]); got != want {
				t.Errorf("%s holds %q, want %q", old[i], got, want)
			}
			if info, err := os.Stat(old[i]); err != nil || info.Mode() != 0o600 {
				t.Errorf("%s: %v, %v; want mode 0600", old[i], info.Mode(), err)
			}
		}
	})
}

// TestRotationContinuesAfterCrash opens the files that a process leaves if it is killed
// between the renaming and the end of the compression.
func TestRotationContinuesAfterCrash(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	io.WriteString(z, "lines\n")
	z.Close()
	for name, left := range map[string]map[string]string{
		"renamed":        {"": "lines\n"},
		"compressing":    {"": "lines\n", ".gz.tmp": packed.String()[:10]},
		"compressed":     {"": "lines\n", ".gz.tmp": packed.String()},
		"before removal": {"": "lines\n", ".gz": packed.String()},
		"done":           {".gz": packed.String()},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "weir.log")
			name := path + ".20200229T120000.000Z"
			for end, text := range left {
				do(t, os.WriteFile(name+end, []byte(text), 0o600))
			}
			f := openFile(t, path, sink.FileOptions{MaxBytes: 100, Keep: 1, Gzip: true})
			waittest.Await(t, "the file to be compressed", func() bool {
				return slices.Equal(putAside(t, path), []string{name + ".gz"})
			})
			closeFile(t, f)
			if got := readPlain(t, name+".gz"); got != "lines\n" {
				t.Errorf("got %q, want %q", got, "lines\n")
			}
		})
	}
}

// TestFileGrowsWhileItCannotBeRenamed checks that the file grows beyond its limit while it
// cannot be renamed, and is rotated afterwards.
func TestFileGrowsWhileItCannotBeRenamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		folder := filepath.Join(t.TempDir(), "logs")
		do(t, os.Mkdir(folder, 0o700))
		path := filepath.Join(folder, "weir.log")
		var told problems
		f := openFile(t, path, sink.FileOptions{MaxBytes: 10, OnError: told.add})
		write(t, f, "one\n")
		do(t, os.Rename(folder, folder+".away"))
		want := "one\n"
		for i := range 30 { // three seconds
			line := fmt.Sprintf("line %d\n", i)
			want += line
			write(t, f, line)
			time.Sleep(100 * time.Millisecond)
		}
		wantFile(t, filepath.Join(folder+".away", "weir.log"), want)
		if n := told.count(); n < 3 || n > 7 {
			t.Errorf("OnError was called %d times in 3 s: %v", n, told.errs)
		}
		do(t, os.Rename(folder+".away", folder))
		time.Sleep(time.Second)
		write(t, f, "last\n")
		wantFile(t, path, "last\n")
		if old := putAside(t, path); len(old) != 1 {
			t.Errorf("put aside: %v, want one file", old)
		} else {
			wantFile(t, old[0], want)
		}
	})
}

// TestTruncatedFileIsNotRotated checks that a file is not rotated after a truncation.
func TestTruncatedFileIsNotRotated(t *testing.T) {
	path := filepath.Join(t.TempDir(), "weir.log")
	f := openFile(t, path, sink.FileOptions{MaxBytes: 10})
	write(t, f, "one\n", "two\n")
	do(t, os.Truncate(path, 0))
	write(t, f, "three\n")
	wantFile(t, path, "three\n")
	if old := putAside(t, path); len(old) != 0 {
		t.Errorf("put aside: %v", old)
	}
}
