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

// FileOptions are the settings of a [File]. The zero value appends to the file
// for ever and leaves it to the operating system when the disk has it.
type FileOptions struct {
	// MaxBytes is how long the file may become: a line that would pass it
	// begins a new file. A line that is longer has a file of its own. 0 means
	// no bound.
	MaxBytes int64

	// Daily begins a new file with the first line after midnight, local time.
	Daily bool

	// Keep is how many files stay beside the current one when MaxBytes or
	// Daily is set; the oldest are removed. 0 keeps them all.
	Keep int

	// Gzip compresses them, in the background and two seconds after their time
	// at the earliest, so that others who write or read the file can move on.
	Gzip bool

	// Fsync is when the file is told to go to the disk: 0 never, below 0 with
	// each Write, before it returns, and above 0 so long after a Write at the
	// latest. [File] says what a power cut costs.
	Fsync time.Duration

	// Mode is that of files that are made; 0 stands for 0640.
	Mode os.FileMode

	// OnError, if there is one, is told what went wrong that Write does not
	// return, each time it does: the path could not be opened anew, a file not
	// be renamed, compressed or removed, or its bytes not be brought to the
	// disk. It may be called from several goroutines, and while the File is
	// locked: it must not wait for the File, nor for a Queue before it.
	OnError func(error)
}

// A File appends to a file that others may move, delete or truncate while it is
// open, and rotates it by itself if it is to. Make one with [OpenFile], and put
// a [Queue] or [Direct] before it, which hand it whole lines and what is left of
// one that was cut short; it never lets a line run from one file into the next.
// Any number of goroutines and processes may append to the same file, as long
// as only one of them rotates it: a write of whole lines stays in one piece.
//
//   - When the path leads elsewhere, because the file was renamed or deleted,
//     the next Write that comes a second or more after the last look at the
//     path opens it anew, and [File.Reopen] does so at once. What is written
//     before that is in the renamed file; that of a deleted one is lost with it.
//     Where opening fails, the File stays with what it has and tries again
//     every second.
//   - A file that is truncated goes on from its new end; nothing is left of a
//     line that was being written, which is then written again.
//   - On a full disk Write returns how far it came, as any Write. A Queue waits
//     and goes on there. To delete or truncate the file helps at once.
//   - A file whose last line has no end, because its writer was killed, has that
//     closed before anything is appended. To open it takes 50 ms longer, in
//     which it has to stay so: another process may be about to write the rest.
//
// A rotated file is named after the path and the time, in UTC, at which it was
// put aside: "weir.log.20261121T230000.000Z", then ".gz". It keeps this name,
// whatever comes after it: who reads or ships it does not find another file
// there, and nothing is renamed a second time. A log that is silent is not
// rotated. A process that is killed while one is compressed leaves the whole
// one, and the next process with that path and the same settings finishes it;
// so does one that was closed.
//
// What a power cut, or a crash of the whole machine, may cost depends on
// Fsync, beside what the Queue holds:
//
//   - 0: what the kernel has not written back by itself, which is thirty
//     seconds of events on an ordinary Linux. The end of the process alone
//     costs nothing.
//   - above 0: what was written in this time and while the last fsync ran.
//   - below 0: nothing. With a Direct before it, an event is on the disk when
//     WriteEvent returns, and costs an fsync; a Queue shares that between the
//     events of a batch, and its callers do not wait for it.
//
// An fsync that fails is told to OnError; whether the lines of the time before
// it are on the disk is then unknown, and a second fsync would not tell.
type File struct {
	path    string
	options FileOptions
	archive *archive // nil unless the file is rotated

	mu      sync.Mutex  // held during a Write; guards what follows
	file    *os.File    // nil after Close
	regular bool        // else it is a pipe or a device, and never rotated
	size    int64       // of the file, as far as known
	day     int         // that of a daily file's lines, see dayOf
	looked  time.Time   // when path was last held against file
	blocked time.Time   // rotating is not tried before this
	partial partialLine // of the line that was not written whole yet
	owed    []byte      // what has to be written before anything else
	syncs   syncs
}

// OpenFile opens the file at path for appending, and makes it unless it exists.
// Its folder has to exist. A named pipe needs a reader.
func OpenFile(path string, o FileOptions) (*File, error) {
	if o.Mode == 0 {
		o.Mode = 0o640
	}
	f := &File{path: path, options: o}
	file, info, err := f.open()
	if err != nil {
		return nil, err
	}
	f.use(file, info, time.Now())
	if o.MaxBytes > 0 || o.Daily {
		// A link to the file stays where it is; the file is put aside.
		if target, err := filepath.EvalSymlinks(path); err == nil {
			f.path = target
		}
		f.archive = openArchive(f.path, o.Keep, o.Gzip, f.report)
	}
	return f, nil
}

// Write appends p, which is whole lines or, after a Write that returned less
// than it was given, what was left of that. It returns how many bytes of p were
// written and, when they are not all of them, why.
func (f *File) Write(p []byte) (n int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file == nil {
		return 0, os.ErrClosed
	}
	now := time.Now()
	if len(f.partial) > 0 || now.Sub(f.looked) >= lookEvery {
		f.report(f.look(now))
	}
	for n < len(p) && err == nil {
		piece := f.fitting(p[n:], now)
		if err = f.payOwed(); err != nil {
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

// payOwed writes what has to be in the file before anything else.
func (f *File) payOwed() error {
	for len(f.owed) > 0 {
		n, err := f.file.Write(f.owed)
		f.size += int64(n)
		f.owed = f.owed[n:]
		if err != nil {
			return err
		}
	}
	return nil
}

// Reopen looks at once whether path leads elsewhere than to the open file, and
// opens it anew if so: for the signal that says that the file was renamed. When
// that fails, the File goes on with what it has. It waits for a Write that is
// under way.
func (f *File) Reopen() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file == nil {
		return os.ErrClosed
	}
	return f.look(time.Now())
}

// Close closes the file, after a last fsync unless there are none, and waits
// for a Write that is under way and for what goes on in the background.
// Compressing is given up and left to the next process.
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

// look opens the path anew unless it leads to the open file, and else notes how
// long this is. f.mu is held here and below.
func (f *File) look(now time.Time) error {
	f.looked = now
	there, err := os.Stat(f.path)
	if err != nil {
		return f.reopen(now)
	}
	mine, err := f.file.Stat()
	if err != nil || !os.SameFile(there, mine) {
		return f.reopen(now)
	}
	if f.regular && mine.Size() < f.size {
		f.owed = append([]byte(nil), f.partial...) // it was truncated, and the line's beginning with it
	}
	f.size = mine.Size()
	return nil
}

// reopen opens the path and lets go of the file there was.
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
		f.report(syncFolder(f.path)) // a file is no use without its name
	}
	return file, info, nil
}

// use takes a file that was opened. A line that was begun in another is written
// from its beginning, behind the end of one that its writer never ended.
func (f *File) use(file *os.File, info os.FileInfo, now time.Time) {
	f.file, f.looked = file, now
	f.regular, f.size = info.Mode().IsRegular(), info.Size()
	f.day, f.owed = dayOf(now), nil
	if f.regular && f.size > 0 {
		f.day = dayOf(info.ModTime())
		if f.endsTorn() {
			f.owed = []byte{'\n'}
		}
	}
	f.owed = append(f.owed, f.partial...)
}

// endsTorn reports whether the file's last line was left without its end, as
// far as the file can be read. That somebody is about to write the rest looks
// the same: a file's length is seen to grow while a write runs.
func (f *File) endsTorn() bool {
	reader, err := os.Open(f.path)
	if err != nil {
		return false
	}
	defer reader.Close()
	for range 50 {
		info, err := reader.Stat()
		if err != nil || info.Size() != f.size {
			return false // somebody is at work, and sees to the end
		}
		var last [1]byte
		if n, _ := reader.ReadAt(last[:], f.size-1); n == 0 || last[0] == '\n' {
			return false
		}
		time.Sleep(time.Millisecond)
	}
	return true
}

// retire closes a file that was written to.
func (f *File) retire(file *os.File) error {
	var err error
	if f.options.Fsync != 0 {
		err = syncFile(file)
	}
	return errors.Join(err, file.Close())
}

func (f *File) report(err error) {
	if err != nil && f.options.OnError != nil {
		f.options.OnError(err)
	}
}
