package spool

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// Options are the limits of a [Store].
type Options struct {
	Bytes int64         // of all segments; a record longer than that is stored if the Store is empty
	Age   time.Duration // lines that are older are lost; 0 means no limit
}

// A Loss is a number of lines that were stored and cannot be delivered.
type Loss struct {
	Lines   uint64
	Expired bool   // they are too old; otherwise their records are damaged or missing
	Text    []byte // of expired lines; valid during the call
}

// A Batch is a sequence of lines of one source.
type Batch struct {
	Lines  []byte // valid until the next call of Next
	Count  int
	Source string
	First  uint64 // number of the first line

	from  *source
	begin int64     // in the first segment of from
	at    time.Time // of the oldest line
}

// ErrFull is the error of [Store.Append] for lines beyond Options.Bytes.
var ErrFull = errors.New("the spill has reached its size")

// A Store keeps lines in a folder until they have been delivered. One goroutine calls Append,
// and one calls Next, Again, Done and Adopt. The other methods, except Close, may be called by
// any goroutine.
type Store struct {
	folder  string
	lost    func(Loss)
	arrived chan struct{}

	// Used only by the goroutine of Append.
	writing sync.Mutex // held by Append
	out     *os.File   // the last segment of own
	record  []byte
	checked time.Time // when the folder was last looked for

	// Used only by the goroutine of Next.
	lines []byte

	mu        sync.Mutex // guards the fields below, and those of sources
	o         Options
	own       *source
	inherited []*source // delivered before own
	used      int64     // bytes of all segments
}

// Open opens a folder, which it makes if necessary, with a new source. lost is called in the
// goroutine of Next.
func Open(folder string, o Options, lost func(Loss)) (*Store, error) {
	s := &Store{folder: folder, o: o, lost: lost, arrived: make(chan struct{}, 1)}
	var err error
	if s.own, err = createOwned(folder, NewID()); err != nil {
		return nil, err
	}
	s.own.writeCursor(cursor{0, 0})
	return s, nil
}

// NewID returns a name that no other source has.
func NewID() string {
	var b [16]byte
	rand.Read(b[:]) // does not fail on the supported systems
	return hex.EncodeToString(b[:])
}

// Change replaces the limits.
func (s *Store) Change(o Options) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.o = o
}

// Source returns the name of the source of this process.
func (s *Store) Source() string { return s.own.id }

// Arrived returns a channel that receives a value after Append: the caller calls Next.
func (s *Store) Arrived() <-chan struct{} { return s.arrived }

// Waiting returns the number of lines that are not delivered, and the bytes of all segments.
func (s *Store) Waiting() (lines uint64, bytes int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, from := range append(s.inherited[:len(s.inherited):len(s.inherited)], s.own) {
		lines += from.next - from.expected
	}
	return lines, s.used
}

// Append writes lines. After an error, none of them is stored.
func (s *Store) Append(text []byte, lines int, now time.Time) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.record = appendRecord(s.record[:0], s.own.seed, s.own.next, lines, now, text)
	if cap(s.record) > 4*windowBytes {
		defer func() { s.record = nil }()
	}
	if err := s.checkFolder(now); err != nil {
		return err
	}
	last, err := s.segmentFor(int64(len(s.record)))
	if err != nil {
		return err
	}
	err = s.write(last)
	if err != nil && last.size > 0 {
		// A limit on the size of files does not limit their number. On a full disk, Next can
		// remove the segment before this one when its lines are delivered.
		if last, err = s.addSegment(); err == nil {
			err = s.write(last)
		}
		s.wake()
	}
	if err != nil {
		return err
	}
	s.mu.Lock()
	last.size += int64(len(s.record))
	s.used += int64(len(s.record))
	s.own.next += uint64(lines)
	s.mu.Unlock()
	s.wake()
	return nil
}

// wake sends a value to arrived.
func (s *Store) wake() {
	select {
	case s.arrived <- struct{}{}:
	default:
	}
}

// write writes the record to the end of a segment. After an error, the next write has the
// same offset.
func (s *Store) write(to *segment) error {
	_, err := s.out.WriteAt(s.record, to.size)
	if err != nil {
		s.out.Truncate(to.size) // frees space; if it fails, readers ignore the rest
	}
	return err
}

// The size of segments. A small one frees space early, and is often removed before the kernel
// writes it to the disk.
const (
	maxSegment   = 8 << 20
	segmentShare = 8 // segments of a full Store, if it is small
)

// segmentFor returns a segment with space for n bytes, or ErrFull.
func (s *Store) segmentFor(n int64) (*segment, error) {
	s.mu.Lock()
	limit := min(s.o.Bytes/segmentShare, maxSegment)
	isFull := s.used+n > s.o.Bytes && !s.isEmpty()
	var last *segment
	if s.out != nil {
		last = s.own.last()
	}
	s.mu.Unlock()
	switch {
	case isFull:
		return nil, ErrFull
	case last == nil || last.size > 0 && last.size+n > limit:
		return s.addSegment()
	}
	return last, nil
}

// addSegment begins a new segment.
func (s *Store) addSegment() (*segment, error) {
	path := segmentPath(s.own.dir, s.own.next)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if s.out != nil {
		s.out.Close()
	}
	s.out = f
	s.mu.Lock()
	defer s.mu.Unlock()
	if before := s.own.last(); before != nil && before.size == 0 {
		s.own.segments = s.own.segments[:len(s.own.segments)-1] // it has the same name
	}
	s.own.segments = append(s.own.segments, &segment{path: path, first: s.own.next})
	return s.own.last(), nil
}

// folderPause is the minimum time between two checks of the folder.
const folderPause = time.Second

// checkFolder makes the folder again if it was removed. The segments that were in it are
// lost, except for those that are open.
func (s *Store) checkFolder(now time.Time) error {
	if now.Sub(s.checked) < folderPause {
		return nil
	}
	_, err := os.Stat(filepath.Join(s.own.dir, lockName))
	if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
		s.checked = now
		return nil
	}
	s.checked = time.Time{} // after an error, the next call tries again
	if s.out != nil {
		s.out.Close()
		s.out = nil // the next segment is in the new folder
	}
	again, err := createSource(s.folder, s.own.id)
	if err != nil {
		return err
	}
	s.checked = now
	s.mu.Lock()
	s.own.lock.Close()
	s.own.lock = again.lock
	expected, next := s.own.expected, s.own.next
	s.mu.Unlock()
	s.own.writeCursor(cursor{expected, next})
	return nil
}

// IsEmpty reports whether all lines are delivered.
func (s *Store) IsEmpty() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.isEmpty()
}

// isEmpty is IsEmpty with s.mu held.
func (s *Store) isEmpty() bool { return len(s.inherited) == 0 && s.own.next == s.own.expected }

// Close ends the use of the folder, after the last call of the other methods. The next process
// finds the lines that are not delivered. If Append is still waiting for a disk that does not
// respond, the last segment stays open.
func (s *Store) Close() error {
	var errs []error
	if s.writing.TryLock() {
		defer s.writing.Unlock()
		if s.out != nil {
			errs = append(errs, s.out.Close())
		}
	}
	for _, from := range append(s.inherited, s.own) {
		if from.next == from.expected {
			errs = append(errs, from.remove())
			continue
		}
		from.writeCursor(cursor{from.expected, from.next})
		from.close()
	}
	return errors.Join(errs...)
}

// isID reports whether s has the form of NewID.
func isID(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == 16
}
