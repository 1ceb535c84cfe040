package serve

import (
	"maps"
	"os"
	"path/filepath"

	"github.com/weirhq/weir/front/config"
)

// A sourceWatch notices changes of the files of a configuration. It compares their states
// once a second, which also works for network file systems and for links that are swapped.
type sourceWatch struct {
	sources, include []string
	applied          map[string]os.FileInfo // the states when the files were read
	last             map[string]os.FileInfo // the states at the last check
	mistakes         string                 // of the last reload; empty for none
	reread           string                 // mistakes at the last check, if the last reload had some
}

// read records that the files are about to be read. A configuration with a mistake has no
// states of its own.
func (w *sourceWatch) read() { w.applied, w.mistakes = w.states(), "" }

// use sets the files of a configuration that was read.
func (w *sourceWatch) use(cfg *config.Config) {
	w.sources, w.include = cfg.Sources, cfg.Include
	w.applied, w.last, w.mistakes = cfg.States, cfg.States, ""
}

// failed records the mistakes of a configuration. Which files it would name is not known, so that it is read again.
func (w *sourceWatch) failed(mistakes string) { w.mistakes, w.reread = mistakes, mistakes }

// corrected reports whether the configuration has other mistakes than the last time, or none, and the same ones as at the
// last call. read returns them.
func (w *sourceWatch) corrected(read func() error) bool {
	if w.mistakes == "" {
		return false
	}
	now := ""
	if err := read(); err != nil {
		now = err.Error()
	}
	settled := now == w.reread
	w.reread = now
	return settled && now != w.mistakes
}

// check reports whether the files have changed since they were read, and not since the last
// check: a file may be half written.
func (w *sourceWatch) check() bool {
	now := w.states()
	settled := sameStates(now, w.last)
	w.last = now
	return settled && !sameStates(now, w.applied)
}

// states returns the states of the files; nil for a file that does not exist.
func (w *sourceWatch) states() map[string]os.FileInfo {
	states := make(map[string]os.FileInfo)
	for _, name := range w.sources {
		states[name] = stateOf(name)
	}
	for _, pattern := range w.include {
		found, _ := filepath.Glob(pattern)
		for _, name := range found {
			states[name] = stateOf(name)
		}
	}
	return states
}

func stateOf(name string) os.FileInfo {
	info, err := os.Stat(name)
	if err != nil {
		return nil
	}
	return info
}

func sameStates(a, b map[string]os.FileInfo) bool {
	return maps.EqualFunc(a, b, func(a, b os.FileInfo) bool {
		if a == nil || b == nil {
			return a == nil && b == nil
		}
		return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
	})
}
