package follow

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

// ErrSwitched is what [File.Read] returns once when what follows is not the
// continuation of what it read before: it is the beginning of a file that took
// the other's name, or of the same one after it was truncated.
var ErrSwitched = errors.New("the file was rotated or truncated")

// ErrNotRegular is the error of [Open] for a file that is not regular, such as a
// pipe.
var ErrNotRegular = errors.New("is not a regular file")

// markLen is how many bytes before the place where reading goes on are
// remembered. Lines that carry the time do not agree in as many.
const markLen = 128

// A File reads a file by its name, whichever file that is at the time. It is
// for one goroutine at a time.
//
// When the name has become another file's, the old one is read to its end
// first. Its end is not known before somebody has written to the new one,
// since who rotates files often makes the new one before the writer lets go of
// the old. A file that had the name between two Reads alone is never seen.
//
// A file that is truncated is read from its beginning again. That is noticed
// even if it has grown beyond the old length since, as the bytes before the
// place of reading are then others. What was written between the last Read and
// the truncation is lost to anyone who reads this file; so Read often.
type File struct {
	name   string
	file   *os.File   // that is read
	later  []*os.File // that had the name after it, oldest first
	offset int64      // of file
	mark   []byte     // the bytes before offset, at most markLen of them
}

// Open opens a regular file, to be read from start on.
func Open(name string, start Start) (*File, error) {
	// To open a named pipe is to wait for who writes to it, so this comes first.
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

// Read reads what has been appended. It returns io.EOF when that is nothing,
// for now, and [ErrSwitched] before it goes on elsewhere. p should be large: a
// look at the file and at its name goes with each call.
func (f *File) Read(p []byte) (int, error) {
	if err := f.look(); err != nil {
		return 0, err
	}
	// If somebody has written to a later file, this one has ended, and whatever
	// is still in it was there before: asking in this order loses nothing.
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

// Close closes the file, and those after it.
func (f *File) Close() error {
	err := f.file.Close()
	for _, later := range f.later {
		later.Close()
	}
	return err
}

// look opens the file that has the name now, unless it is known. It is opened
// when it is first seen, as its name may be another's when its turn comes.
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
		return nil // no file has the name, for the moment
	}
	later, err := os.Open(f.name)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	if opened, err := later.Stat(); err != nil || os.SameFile(known, opened) {
		later.Close()
		return err
	}
	f.later = append(f.later, later)
	return nil
}

// hasEnded reports whether somebody has written to a later file.
func (f *File) hasEnded() bool {
	for _, later := range f.later {
		if info, err := later.Stat(); err == nil && info.Size() > 0 {
			return true
		}
	}
	return false
}

// isOther reports whether the bytes before the place of reading are not those
// that were read, or are no more.
func (f *File) isOther() bool {
	var room [markLen]byte
	now := room[:len(f.mark)]
	if n, err := f.file.ReadAt(now, f.offset-int64(len(now))); n < len(now) {
		return err == io.EOF
	}
	return !bytes.Equal(now, f.mark)
}

// advance remembers that p was read.
func (f *File) advance(p []byte) {
	f.offset += int64(len(p))
	f.mark = append(f.mark, p[max(0, len(p)-markLen):]...)
	if extra := len(f.mark) - markLen; extra > 0 {
		f.mark = append(f.mark[:0], f.mark[extra:]...)
	}
}
