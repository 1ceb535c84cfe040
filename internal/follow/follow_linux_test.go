package follow_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/weirhq/weir/internal/follow"
	"github.com/weirhq/weir/internal/testkit"
)

// TestNextFileIsOpenedLater rotates while the process may open no file. The old file is read to its end meanwhile.
func TestNextFileIsOpenedLater(t *testing.T) {
	name := filepath.Join(t.TempDir(), "log")
	testkit.AppendFile(t, name, "a\n")
	f := open(t, name, follow.Start{})
	var warned []error
	f.Warn = func(err error) { warned = append(warned, err) }
	wantAvailable(t, f, "a\n")
	testkit.AppendFile(t, name, "b\n")
	testkit.NoError(t, os.Rename(name, name+".1"))
	testkit.AppendFile(t, name, "c\n")

	var limit syscall.Rlimit
	testkit.NoError(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	testkit.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Max: limit.Max}))
	restore := func() { testkit.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit)) }
	t.Cleanup(restore)
	wantAvailable(t, f, "b\n")
	wantAvailable(t, f, "")
	restore()
	if len(warned) != 1 || !errors.Is(warned[0], syscall.EMFILE) {
		t.Errorf("got the warnings %v, want one for EMFILE", warned)
	}
	wantAvailable(t, f, "|c\n")
}
