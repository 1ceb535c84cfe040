package serverlist

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/weirhq/weir/internal/abandon"
)

const (
	// interval is the interval at which the state is examined. Comparing states works on all file
	// systems, also on those without notifications.
	interval = 250 * time.Millisecond

	// maxBytes is the maximum length of a file.
	maxBytes = 1 << 20
)

// WatchFile calls changed with the content of a file once at the start and after each change, until
// ctx is done. It also notices that the file is replaced by a rename, or a symbolic link to
// it or to its folder by another one. The state of the file must have been the same for an interval,
// because a writer may not be ready. If the file cannot be read, changed gets the error, once for
// each reason. If the disk hangs at the end of ctx, WatchFile does not wait for it.
func WatchFile(ctx context.Context, name string, changed func(content []byte, err error)) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	w := fileWatch{name: name}
	for {
		var seen news
		if abandon.Call(ctx, func() error { seen = w.look(); return nil }) != nil {
			return
		}
		if seen.fresh {
			changed(seen.content, seen.err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// A fileWatch notices the changes of a file.
type fileWatch struct {
	name           string
	last, reported state
}

// news is the content of a file, or why it cannot be read, if that is fresh.
type news struct {
	content []byte
	err     error
	fresh   bool
}

// look examines the file.
func (w *fileWatch) look() news {
	now := stateOf(w.name)
	settled := now.same(w.last)
	w.last = now
	if !settled || now.same(w.reported) {
		return news{}
	}
	content, read := contentOf(w.name, now)
	if read.same(w.reported) || read == changing {
		return news{}
	}
	w.reported = read
	return news{content, read.err, true}
}

// A state is the state of a file, or the error that it has instead.
type state struct {
	info fs.FileInfo // nil with an error
	err  error
}

// changing is the state of a file that has changed while it was read.
var changing = state{}

func stateOf(name string) state {
	info, err := os.Stat(name)
	return state{info, err}
}

// contentOf returns the content of a file that has the given state, and that state. The state is
// changing if the file has another one by now, or an error.
func contentOf(name string, now state) ([]byte, state) {
	if now.err != nil {
		return nil, now
	}
	if mode := now.info.Mode(); !mode.IsRegular() && !mode.IsDir() { // opening a pipe could wait for ever
		return nil, state{err: fmt.Errorf("%s: not a file: %v", name, mode)}
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, state{err: err}
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err == nil && len(content) > maxBytes {
		err = fmt.Errorf("%s: longer than %d bytes", name, maxBytes)
	}
	if err != nil {
		return nil, state{err: err}
	}
	info, err := f.Stat()
	if read := (state{info, err}); !read.same(now) {
		return nil, changing
	}
	return content, now
}

// same reports whether two states are the same: the same file, length and time, or the same error.
func (s state) same(other state) bool {
	if s.err != nil && other.err != nil {
		return s.err.Error() == other.err.Error()
	}
	return s.info != nil && other.info != nil && os.SameFile(s.info, other.info) && s.info.Size() == other.info.Size() &&
		s.info.ModTime().Equal(other.info.ModTime())
}
