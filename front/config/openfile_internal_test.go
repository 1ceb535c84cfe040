package config

import (
	"io/fs"
	"strings"
	"syscall"
	"testing"
)

func TestFileHint(t *testing.T) {
	for err, want := range map[syscall.Errno]string{syscall.EACCES: "must be allowed", syscall.ENOENT: "relative path"} {
		if got := fileHint(&fs.PathError{Op: "open", Path: "shop.key", Err: err}); !strings.Contains(got, want) {
			t.Errorf("%v: %s", err, got)
		}
	}
}
