package sink

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// syncs holds the delayed fsyncs of a File.
type syncs struct {
	timer   *time.Timer
	due     bool // whether the timer runs
	running sync.WaitGroup
}

// wrote syncs the file after a Write, or schedules that. f.mu is held.
func (f *File) wrote() {
	switch after := f.options.Fsync; {
	case after < 0:
		f.report(syncFile(f.file))
	case after > 0 && !f.syncs.due:
		f.syncs.due = true
		f.syncs.running.Add(1)
		if f.syncs.timer == nil {
			f.syncs.timer = time.AfterFunc(after, f.syncDue)
		} else {
			f.syncs.timer.Reset(after)
		}
	}
}

// syncDue is called by the timer. Writes continue during it.
func (f *File) syncDue() {
	defer f.syncs.running.Done()
	f.mu.Lock()
	f.syncs.due = false
	file := f.file
	f.mu.Unlock()
	if file == nil {
		return // Close syncs
	}
	// If the file was closed in the meantime, it was synced before.
	if err := syncFile(file); !errors.Is(err, os.ErrClosed) {
		f.report(err)
	}
}

// stop stops the timer. The caller holds the File's mu, and the File must not
// start another timer.
func (s *syncs) stop() {
	if s.due && s.timer.Stop() {
		s.due = false
		s.running.Done()
	}
}

// wait returns when the running syncs have ended. The File's mu is not held.
func (s *syncs) wait() { s.running.Wait() }

// syncFile calls fsync. It ignores that pipes and terminals do not support it.
func syncFile(file *os.File) error {
	if err := file.Sync(); !errors.Is(err, syscall.EINVAL) {
		return err
	}
	return nil
}

// syncFolder syncs the folder of a file, which holds its name.
func syncFolder(path string) error {
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(syncFile(folder), folder.Close())
}
