package sink

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// syncs are the fsyncs of a File that are not due with each Write.
type syncs struct {
	timer   *time.Timer
	due     bool // the timer runs
	running sync.WaitGroup
}

// wrote has what was written go to the disk when the options say so. f.mu is
// held.
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

// syncDue is what the timer runs. Writes go on meanwhile.
func (f *File) syncDue() {
	defer f.syncs.running.Done()
	f.mu.Lock()
	f.syncs.due = false
	file := f.file
	f.mu.Unlock()
	if file == nil {
		return // Close sees to it
	}
	// Who closed the file in the meantime has synced it.
	if err := syncFile(file); !errors.Is(err, os.ErrClosed) {
		f.report(err)
	}
}

// stop ends what has not begun. The File's mu is held, and no more is begun.
func (s *syncs) stop() {
	if s.due && s.timer.Stop() {
		s.due = false
		s.running.Done()
	}
}

// wait returns when what had begun has ended. The File's mu is not held.
func (s *syncs) wait() { s.running.Wait() }

// syncFile brings a file to the disk; a pipe or a terminal has none.
func syncFile(file *os.File) error {
	if err := file.Sync(); !errors.Is(err, syscall.EINVAL) {
		return err
	}
	return nil
}

// syncFolder brings the names in a file's folder to the disk.
func syncFolder(path string) error {
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(syncFile(folder), folder.Close())
}
