package spool

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A source is a folder with the lines of one process: this one, or one that has ended.
type source struct {
	dir  string
	id   string
	seed uint32
	lock *os.File

	// Guarded by the store's mu.
	segments []*segment // in the order of their lines; the writer appends, the reader removes
	next     uint64     // number after the last line
	expected uint64     // number of the first line that is not delivered or lost

	// Used only by the reader.
	reading *segment // the first segment, if it is open
	file    *os.File
	scanner scanner
	failed  int       // reads that have failed in succession
	saved   time.Time // when saveCursor last wrote the cursor
	cursor  cursor    // that it wrote
}

// A segment is a file of records.
type segment struct {
	path  string
	first uint64 // number of the first line
	size  int64  // of its complete records; guarded by the store's mu
}

// last returns the last segment, or nil. The store's mu is held.
func (s *source) last() *segment {
	if len(s.segments) == 0 {
		return nil
	}
	return s.segments[len(s.segments)-1]
}

const (
	segmentSuffix = ".seg"
	lockName      = "lock"
	cursorName    = "cursor"
)

func segmentPath(dir string, first uint64) string {
	return filepath.Join(dir, fmt.Sprintf("%020d%s", first, segmentSuffix))
}

// createOwned is createSource for a new id. The folder has another name until it is locked, so that
// no other process takes it for that of a process that has ended.
func createOwned(folder, id string) (*source, error) {
	s, err := createSource(folder, "new-"+id)
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(folder, id)
	if err := os.Rename(s.dir, dir); err != nil {
		return nil, errors.Join(err, s.remove())
	}
	return newSource(dir, s.lock), nil
}

// createSource makes a folder for the lines of this process, and locks it.
func createSource(folder, id string) (*source, error) {
	dir := filepath.Join(folder, id)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	lock, err := lockFile(filepath.Join(dir, lockName))
	if err != nil {
		return nil, err
	}
	return newSource(dir, lock), nil
}

func newSource(dir string, lock *os.File) *source {
	id := filepath.Base(dir)
	return &source{dir: dir, id: id, seed: seedOf(id), lock: lock}
}

// openSource opens the folder that another process has left, or returns errLocked.
func openSource(dir string) (*source, error) {
	lock, err := lockFile(filepath.Join(dir, lockName))
	if err != nil {
		return nil, err
	}
	s := newSource(dir, lock)
	if err := s.recover(); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// recover finds the segments, and the lines that are not delivered.
func (s *source) recover() error {
	entries, err := os.ReadDir(s.dir) // sorted
	if err != nil {
		return err
	}
	for _, e := range entries {
		number, ok := strings.CutSuffix(e.Name(), segmentSuffix)
		first, err := strconv.ParseUint(number, 10, 64)
		if !ok || err != nil {
			continue
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		s.segments = append(s.segments, &segment{filepath.Join(s.dir, e.Name()), first, info.Size()})
	}
	if c, ok := readCursor(filepath.Join(s.dir, cursorName), s.seed); ok {
		s.expected, s.next = c.next, c.end
	} else if len(s.segments) > 0 {
		s.expected = s.segments[0].first
	}
	if err := s.findEnd(); err != nil {
		return err
	}
	s.next = max(s.next, s.expected)
	return nil
}

// findEnd finds the number after the last line. A record that was not written completely is
// not part of the source: its process has ended during the write.
func (s *source) findEnd() error {
	if len(s.segments) == 0 {
		return nil
	}
	last := s.segments[len(s.segments)-1]
	s.next = max(s.next, last.first)
	f, err := os.Open(last.path)
	if err != nil {
		return err
	}
	defer f.Close()
	scan := scanner{file: f, seed: s.seed}
	for {
		r, ok, err := scan.next(last.size)
		if err != nil || !ok {
			return err
		}
		s.next = max(s.next, r.end())
		scan.pos += r.size()
	}
}

// cursorPause is the minimum time between two writes of a cursor.
const cursorPause = time.Second

// saveCursor writes the cursor if it differs and the last write was some time ago.
func (s *source) saveCursor(c cursor, now time.Time) {
	if now.Sub(s.saved) >= cursorPause && s.cursor != c {
		s.saved, s.cursor = now, c
		s.writeCursor(c)
	}
}

// writeCursor writes the cursor. If that fails, an earlier cursor stays, and lines may be
// delivered again.
func (s *source) writeCursor(c cursor) {
	f, err := os.OpenFile(filepath.Join(s.dir, cursorName), os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	c.write(f, s.seed)
}

// openFirst opens a segment for reading, the first one.
func (s *source) openFirst(seg *segment) error {
	if s.reading == seg {
		return nil
	}
	s.closeSegment()
	f, err := os.Open(seg.path)
	if err != nil {
		return err
	}
	s.reading, s.file = seg, f
	s.scanner.reset(f, s.seed)
	return nil
}

func (s *source) closeSegment() {
	if s.reading != nil {
		s.file.Close()
		s.reading, s.file = nil, nil
	}
}

// close closes the files. Another process can then own the folder.
func (s *source) close() {
	s.closeSegment()
	s.lock.Close()
}

// remove removes the folder of a source without lines. The lock is removed last, so that no
// other process finds a folder without it.
func (s *source) remove() error {
	var errs []error
	for _, seg := range s.segments {
		errs = append(errs, os.Remove(seg.path))
	}
	errs = append(errs, os.Remove(filepath.Join(s.dir, cursorName)), os.Remove(filepath.Join(s.dir, lockName)),
		os.Remove(s.dir))
	s.close()
	return errors.Join(slices.DeleteFunc(errs, func(err error) bool { return errors.Is(err, fs.ErrNotExist) })...)
}
