package sink

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// FileOptions are the settings of a [File]. The zero value appends to one file
// without a limit, and leaves the time of writing to disk to the operating
// system.
type FileOptions struct {
	// MaxBytes limits the size of a file: a line that would exceed it begins a
	// new file. A longer line has a file of its own. 0 means no limit.
	MaxBytes int64

	// Daily begins a new file with the first line after midnight, local time.
	Daily bool

	// Keep is the number of rotated files to keep, with MaxBytes or Daily; the
	// oldest are removed. 0 keeps all.
	Keep int

	// Gzip compresses rotated files in the background, at least two seconds
	// after their rotation, so that other processes can stop writing or reading
	// them first.
	Gzip bool

	// Fsync says when to call fsync: never if it is 0, during each Write if it
	// is negative, and within that time after a Write if it is positive. [File]
	// describes the loss after a power failure.
	Fsync time.Duration

	// Mode is the mode of new files; 0 means 0640.
	Mode os.FileMode

	// OnError, if it is not nil, is called with each error that Write does not
	// return: the path cannot be reopened, a file cannot be renamed, compressed
	// or removed, or fsync fails. It may be called from several goroutines, and
	// while the File is locked: it must not wait for the File, nor for a Queue
	// that writes to it.
	OnError func(error)
}

// A File appends to a file that other processes may move, delete or truncate, and
// can rotate it. Make one with [OpenFile], and write to it through a [Queue] or
// [Direct], which hand it whole lines and the rests of short writes. A line never
// spans two files. Any number of goroutines and processes may append to the same
// file if only one of them rotates it: a write of whole lines stays in one piece.
//
//   - When the file was renamed or deleted, the next Write a second or more after
//     the last check reopens the path, and [File.Reopen] does so immediately.
//     Lines written before that are in the renamed file, or lost with the deleted
//     one. If opening fails, the File keeps its file and tries again every second.
//   - After a truncation, writing continues at the new end. A line that was being
//     written is repeated from its beginning.
//   - On a full disk, Write returns how much it wrote. A Queue waits and continues
//     there. Deleting or truncating the file helps immediately.
//   - If the last line of a file has no newline, because its writer was killed,
//     the File ends the line first. It waits 50 ms before, in which the file must
//     not change: another process may be about to write the rest.
//
// A rotated file is named after the path and the time of its rotation in UTC:
// "weir.log.20261121T230000.000Z", later with ".gz". The name never changes, so a
// process that reads or ships it never finds another file there. A log without
// new lines is not rotated. If a process ends during compression, the uncompressed
// file remains, and the next process with that path and the same settings
// compresses it.
//
// In addition to the lines in the Queue, a power failure or a crash of the machine
// can lose, depending on Fsync:
//
//   - 0: data that the kernel has not written to disk yet, about thirty seconds of
//     events on an ordinary Linux. The end of the process loses nothing.
//   - positive: data written within this time and during the last fsync.
//   - negative: nothing. With a Direct, an event is on disk when WriteEvent
//     returns, which takes an fsync. A Queue needs one fsync for all events of a
//     chunk, and its callers do not wait for it.
//
// OnError receives the error of a failed fsync. Whether earlier lines are on disk
// is then unknown, and a second fsync would not show it.
type File struct {
	path    string
	onError func(error) // may be nil

	mu      sync.Mutex // held during a Write; guards the fields below
	options FileOptions
	archive *archive    // nil unless the file is rotated
	file    *os.File    // nil after Close
	regular bool        // false for a pipe or a device, which is never rotated
	size    int64       // of the file, as far as it is known
	day     int         // the day of the lines of a daily file, see dayOf
	checked time.Time   // when path was last compared with file
	blocked time.Time   // no rotation is tried before this time
	partial partialLine // the last line, if it is not complete
	pending []byte      // bytes to write before anything else
	syncs   syncs
}

// OpenFile opens the file at path for appending, and creates it if it does not
// exist. Its folder must exist. A named pipe needs a reader.
func OpenFile(path string, o FileOptions) (*File, error) {
	if o.Mode == 0 {
		o.Mode = 0o640
	}
	f := &File{path: path, onError: o.OnError, options: o}
	file, info, err := f.open()
	if err != nil {
		return nil, err
	}
	f.use(file, info, time.Now())
	f.openArchive()
	return f, nil
}

// openArchive opens the archive if the options rotate the file.
func (f *File) openArchive() {
	if !f.options.rotates() {
		return
	}
	// If path is a symbolic link, the link remains and its target is rotated.
	if target, err := filepath.EvalSymlinks(f.path); err == nil {
		f.path = target
	}
	f.archive = openArchive(f.path, f.options.Keep, f.options.Gzip, f.report)
}

func (o *FileOptions) rotates() bool { return o.MaxBytes > 0 || o.Daily }

// Change replaces the options, except OnError. Mode applies to files that are
// opened later. It waits for a Write in progress. If Keep, Gzip or the rotation
// changes, it also waits for background work, except a compression, which begins
// again.
func (f *File) Change(o FileOptions) error {
	if o.Mode == 0 {
		o.Mode = 0o640
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file == nil {
		return os.ErrClosed
	}
	before := f.options
	f.options = o
	if before.rotates() == o.rotates() && before.Keep == o.Keep && before.Gzip == o.Gzip {
		return nil
	}
	spared := ""
	if f.archive != nil {
		f.archive.close()
		spared, f.archive = f.archive.spared, nil
	}
	if f.openArchive(); f.archive != nil {
		f.archive.spare(spared)
	}
	return nil
}

// Write appends p: whole lines or, after a short write, the rest of p. It
// returns the number of bytes written, and an error if that is not all.
func (f *File) Write(p []byte) (n int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file == nil {
		return 0, os.ErrClosed
	}
	now := time.Now()
	if len(f.partial) > 0 || now.Sub(f.checked) >= checkEvery {
		f.report(f.checkPath(now))
	}
	for n < len(p) && err == nil {
		piece := f.fitting(p[n:], now)
		if err = f.writePending(); err != nil {
			break
		}
		var wrote int
		wrote, err = f.file.Write(piece)
		f.size += int64(wrote)
		f.partial = f.partial.after(piece[:wrote])
		n += wrote
	}
	if n > 0 {
		f.wrote()
	}
	return n, err
}

// writePending writes the bytes that must precede everything else.
func (f *File) writePending() error {
	for len(f.pending) > 0 {
		n, err := f.file.Write(f.pending)
		f.size += int64(n)
		f.pending = f.pending[n:]
		if err != nil {
			return err
		}
	}
	return nil
}

// Reopen reopens the path if it does not lead to the open file any more. Call
// it on the signal that says that the file was renamed. If it fails, the File
// keeps its file. It waits for a Write in progress.
func (f *File) Reopen() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file == nil {
		return os.ErrClosed
	}
	return f.checkPath(time.Now())
}

// Close closes the file, after a last fsync if Fsync is set. It waits for a
// Write in progress and for background work, except a compression, which it
// stops and leaves to the next process.
func (f *File) Close() error {
	f.mu.Lock()
	file := f.file
	f.file = nil
	f.syncs.stop()
	f.mu.Unlock()
	if file == nil {
		return nil
	}
	f.syncs.wait()
	if f.archive != nil {
		f.archive.close()
	}
	return f.retire(file)
}

// checkPath reopens the path if it does not lead to the open file, and
// otherwise updates the size. f.mu is held here and below.
func (f *File) checkPath(now time.Time) error {
	f.checked = now
	there, err := os.Stat(f.path)
	if err != nil {
		return f.reopen(now)
	}
	mine, err := f.file.Stat()
	if err != nil || !os.SameFile(there, mine) {
		return f.reopen(now)
	}
	if f.regular && mine.Size() < f.size {
		f.pending = append([]byte(nil), f.partial...) // the truncation removed the beginning of the line
	}
	f.size = mine.Size()
	return nil
}

// reopen opens the path and closes the previous file.
func (f *File) reopen(now time.Time) error {
	file, info, err := f.open()
	if err != nil {
		return fmt.Errorf("the log stays in the file that is open: %w", err)
	}
	old := f.file
	f.use(file, info, now)
	f.report(f.retire(old))
	if f.archive != nil {
		f.archive.spare("")
	}
	return nil
}

// open opens the path. It does not wait for the reader of a named pipe.
func (f *File) open() (*os.File, os.FileInfo, error) {
	file, err := os.OpenFile(f.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|syscall.O_NONBLOCK, f.options.Mode)
	if err != nil {
		return nil, nil, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	if f.options.Fsync != 0 && info.Size() == 0 {
		f.report(syncFolder(f.path)) // a synced file is lost if its name is not synced
	}
	return file, info, nil
}

// use starts to write to an opened file. It ends the file's last line if it is
// torn, and repeats the beginning of a line that was begun in another file.
func (f *File) use(file *os.File, info os.FileInfo, now time.Time) {
	f.file, f.checked = file, now
	f.regular, f.size = info.Mode().IsRegular(), info.Size()
	f.day, f.pending = dayOf(now), nil
	if f.regular && f.size > 0 {
		f.day = dayOf(info.ModTime())
		if f.endsTorn() {
			f.pending = []byte{'\n'}
		}
	}
	f.pending = append(f.pending, f.partial...)
}

// endsTorn reports whether the file's last line has no newline, as far as the
// file can be read. While another process writes, the file can look the same:
// its length grows during a write. So endsTorn watches it for 50 ms.
func (f *File) endsTorn() bool {
	reader, err := os.Open(f.path)
	if err != nil {
		return false
	}
	defer reader.Close()
	for range 50 {
		info, err := reader.Stat()
		if err != nil || info.Size() != f.size {
			return false // another process is writing, and will end the line
		}
		var last [1]byte
		if n, _ := reader.ReadAt(last[:], f.size-1); n == 0 || last[0] == '\n' {
			return false
		}
		time.Sleep(time.Millisecond)
	}
	return true
}

// retire syncs and closes a file.
func (f *File) retire(file *os.File) error {
	var err error
	if f.options.Fsync != 0 {
		err = syncFile(file)
	}
	return errors.Join(err, file.Close())
}

func (f *File) report(err error) {
	if err != nil && f.onError != nil {
		f.onError(err)
	}
}
