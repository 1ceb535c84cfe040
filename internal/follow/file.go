package follow

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

// ErrSwitched is returned once by [File.Read] when the next data does not
// continue the data before it: it is the beginning of the next file of that
// name, or of the same file after a truncation.
var ErrSwitched = errors.New("the file was rotated or truncated")

// ErrNotRegular is the error of [Open] for a file that is not regular, such as a
// pipe.
var ErrNotRegular = errors.New("is not a regular file")

// markLen is the number of bytes before the read position that are remembered.
// They usually contain the time of a line, so two files rarely have the same bytes there.
const markLen = 128

// A File reads the files that have a certain name, one after the other. It is
// for one goroutine at a time.
//
// After a rotation, the old file is read to its end first. Its end is only
// known when the new one has data, because a program that rotates files often
// creates the new one before the writer closes the old one. A file that has the
// name only between two Reads is missed.
//
// A truncated file is read from its beginning again. Read notices the
// truncation even if the file has grown beyond the old length since: the bytes
// before the read position differ then. Data that was written between the last
// Read and the truncation is lost, so call Read often.
type File struct {
	Warn func(error) // takes the first of several errors of opening the next file; nil for none

	name   string
	warned bool       // about the file that has the name now
	file   *os.File   // the current file
	later  []*os.File // files that had the name after it, oldest first
	offset int64      // of file
	mark   []byte     // the bytes before offset, at most markLen of them
}

// Open opens a regular file and moves to start.
func Open(name string, start Start) (*File, error) {
	// Opening a named pipe waits for its writer, so this check comes first.
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s %w", name, ErrNotRegular)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	followed := &File{name: name, file: f}
	if err := followed.skip(start); err != nil {
		f.Close()
		return nil, err
	}
	return followed, nil
}

func (f *File) skip(start Start) error {
	info, err := f.file.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s %w", f.name, ErrNotRegular)
	}
	if f.offset, err = start.Offset(f.file, info.Size()); err != nil {
		return err
	}
	f.mark = make([]byte, min(f.offset, markLen))
	_, err = f.file.ReadAt(f.mark, f.offset-int64(len(f.mark)))
	return err
}

// Read reads appended data. It returns io.EOF if there is none yet, and
// [ErrSwitched] before the data of another file. Use a large p: each call also
// checks the file and its name.
func (f *File) Read(p []byte) (int, error) {
	if err := f.look(); err != nil {
		return 0, err
	}
	// If a later file has data, the writer has finished this one, and all its
	// data is there already. So check the later file before reading this one.
	ended := f.hasEnded()
	if f.isOther() {
		f.offset, f.mark = 0, f.mark[:0]
		return 0, ErrSwitched
	}
	n, err := f.file.ReadAt(p, f.offset)
	switch {
	case n > 0:
		f.advance(p[:n])
		return n, nil
	case err != io.EOF:
		return 0, err
	case !ended:
		return 0, io.EOF
	}
	f.file.Close()
	f.file, f.later = f.later[0], f.later[1:]
	f.offset, f.mark = 0, f.mark[:0]
	return 0, ErrSwitched
}

// Close closes all open files.
func (f *File) Close() error {
	err := f.file.Close()
	for _, later := range f.later {
		later.Close()
	}
	return err
}

// look opens the file that has the name now, unless it is open. It does so when
// it first sees the file, because the name may change before the file is read. If
// it cannot be opened, the next look tries again: a program that rotates files may
// permit it only after it has created the file.
func (f *File) look() error {
	newest := f.file
	if n := len(f.later); n > 0 {
		newest = f.later[n-1]
	}
	known, err := newest.Stat()
	if err != nil {
		return err
	}
	if now, err := os.Stat(f.name); err != nil || os.SameFile(known, now) || !now.Mode().IsRegular() {
		return nil // no file has the name at the moment
	}
	later, err := os.Open(f.name)
	if err != nil {
		f.warn(err)
		return nil
	}
	f.warned = false
	if opened, err := later.Stat(); err != nil || os.SameFile(known, opened) {
		later.Close()
		return err
	}
	f.later = append(f.later, later)
	return nil
}

// warn passes on an error of opening the next file, unless the one before it was passed on.
func (f *File) warn(err error) {
	if errors.Is(err, os.ErrNotExist) || f.warned || f.Warn == nil {
		return
	}
	f.warned = true
	f.Warn(err)
}

// hasEnded reports whether a later file has data.
func (f *File) hasEnded() bool {
	for _, later := range f.later {
		if info, err := later.Stat(); err == nil && info.Size() > 0 {
			return true
		}
	}
	return false
}

// isOther reports whether the bytes before the read position have changed or
// disappeared.
func (f *File) isOther() bool {
	var room [markLen]byte
	now := room[:len(f.mark)]
	if n, err := f.file.ReadAt(now, f.offset-int64(len(now))); n < len(now) {
		return err == io.EOF
	}
	return !bytes.Equal(now, f.mark)
}

// advance moves the read position after p, and remembers the end of p.
func (f *File) advance(p []byte) {
	f.offset += int64(len(p))
	f.mark = append(f.mark, p[max(0, len(p)-markLen):]...)
	if extra := len(f.mark) - markLen; extra > 0 {
		f.mark = append(f.mark[:0], f.mark[extra:]...)
	}
}
