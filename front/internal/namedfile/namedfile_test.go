package namedfile

import (
	"io/fs"
	"strings"
	"syscall"
	"testing"
)

func TestHintNamesTheCauseOfTheError(t *testing.T) {
	for err, want := range map[syscall.Errno]string{syscall.EACCES: "must be allowed", syscall.ENOENT: "relative path"} {
		if got := Hint(&fs.PathError{Op: "open", Path: "shop.key", Err: err}); !strings.Contains(got, want) {
			t.Errorf("%v: %s", err, got)
		}
	}
}
