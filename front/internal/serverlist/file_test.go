package serverlist_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirhq/weir/front/internal/serverlist"
	"github.com/weirhq/weir/internal/testkit"
)

// watch follows a file until the end of the test, and sends each content or error.
func watch(t *testing.T, name string) <-chan string {
	seen := make(chan string, 100)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		serverlist.WatchFile(ctx, name, func(content []byte, err error) {
			if err != nil {
				seen <- err.Error()
				return
			}
			seen <- string(content)
		})
	})
	t.Cleanup(func() {
		cancel()
		running.Wait()
	})
	return seen
}

func want(t *testing.T, seen <-chan string, text string) {
	t.Helper()
	select {
	case got := <-seen:
		if !strings.Contains(got, text) {
			t.Fatalf("%q, want %q", got, text)
		}
	case <-time.After(30 * time.Second):
		t.Fatalf("%q was not noticed", text)
	}
}

// TestWatchSeesEachChangeOfFile changes a file in all usual ways.
func TestWatchSeesEachChangeOfFile(t *testing.T) { synctest.Test(t, testWatchFile) }

func testWatchFile(t *testing.T) {
	folder := t.TempDir()
	at := func(name string) string { return filepath.Join(folder, name) }
	write := func(name, text string) { testkit.NoError(t, os.WriteFile(at(name), []byte(text), 0o644)) }
	testkit.NoError(t, os.Mkdir(at("1"), 0o755))
	testkit.NoError(t, os.Mkdir(at("2"), 0o755))
	write("1/list", "first")
	testkit.NoError(t, os.Symlink("1", at("data")))
	seen := watch(t, at("data/list"))
	want(t, seen, "first")

	write("next", "second")
	testkit.NoError(t, os.Rename(at("next"), at("1/list")))
	want(t, seen, "second")

	write("2/list", "third")
	testkit.NoError(t, os.Symlink("2", at("data_tmp")))
	testkit.NoError(t, os.Rename(at("data_tmp"), at("data")))
	want(t, seen, "third")

	write("2/list", "in place")
	want(t, seen, "in place")

	testkit.NoError(t, os.Remove(at("2/list")))
	want(t, seen, "no such file")
	testkit.NoError(t, os.Mkdir(at("2/list"), 0o755))
	want(t, seen, "is a directory")
	testkit.NoError(t, os.Remove(at("2/list")))
	want(t, seen, "no such file")
	write("2/list", strings.Repeat("x", 1<<20+1))
	want(t, seen, "longer than")
	write("2/list", strings.Repeat("y", 1<<20))
	want(t, seen, "yyy")
	testkit.NoError(t, os.Remove(at("2/list")))
	testkit.NoError(t, syscall.Mkfifo(at("2/list"), 0o644))
	want(t, seen, "not a file")
	testkit.NoError(t, os.Remove(at("2/list")))
	want(t, seen, "no such file")
	time.Sleep(time.Minute)
	if len(seen) > 0 {
		t.Errorf("%.100q without a change", <-seen)
	}
}

// TestWatchWaitsForTheCompleteFile writes a file in steps. Only the complete file is seen.
func TestWatchWaitsForTheCompleteFile(t *testing.T) { synctest.Test(t, testHalfWritten) }

func testHalfWritten(t *testing.T) {
	name := filepath.Join(t.TempDir(), "list")
	f, err := os.Create(name)
	testkit.NoError(t, err)
	defer f.Close()
	seen := watch(t, name)
	complete := strings.Repeat("0123456789", 50)
	for i := range len(complete) / 10 {
		_, err := f.WriteString(complete[i*10 : i*10+10])
		testkit.NoError(t, err)
		time.Sleep(70 * time.Millisecond)
	}
	want(t, seen, complete)
}
