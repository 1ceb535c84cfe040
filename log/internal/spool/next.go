package spool

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// A place is the first segment of the source that is delivered now.
type place struct {
	from  *source
	seg   *segment
	size  int64  // of seg
	end   uint64 // number after the last line of seg
	final bool   // seg does not grow
}

// head returns the place of the next line, and reports whether there is one.
func (s *Store) head() (p place, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p.from = s.own
	if len(s.inherited) > 0 {
		p.from, p.final = s.inherited[0], true
	}
	p.end = p.from.next
	if len(p.from.segments) == 0 {
		return p, p.final
	}
	p.seg = p.from.segments[0]
	p.size = p.seg.size
	if len(p.from.segments) > 1 {
		p.end, p.final = p.from.segments[1].first, true
	}
	return p, true
}

// Next returns the next lines, and at most max bytes of them unless one record is longer. The
// Count is 0 if no line waits; another call a second later then writes the cursor if it is not
// up to date. Call Done or Again before the next call. After an error, no line is lost: the next
// call tries again.
func (s *Store) Next(max int, now time.Time) (Batch, error) {
	for {
		p, ok := s.head()
		if !ok {
			return Batch{}, nil
		}
		if p.seg == nil {
			s.lose(p.from, p.end, Loss{})
			s.removeSource(p.from)
			continue
		}
		switch err := p.from.openFirst(p.seg); {
		case errors.Is(err, fs.ErrNotExist):
			s.lose(p.from, p.end, Loss{})
		case err != nil:
			return Batch{}, err
		default:
			if b, err := s.read(p, max, now); err != nil || b.Count > 0 {
				return b, err
			}
			// The rest of the segment is damaged.
			s.lose(p.from, p.end, Loss{})
		}
		if !p.final {
			p.from.saveCursor(cursor{p.end, p.end}, now)
			return Batch{}, nil
		}
		s.removeSegment(p)
	}
}

// Again returns a batch that could not be delivered once more, or, if a part of it has
// expired meanwhile, the rest.
func (s *Store) Again(b Batch, max int, now time.Time) (Batch, error) {
	s.mu.Lock()
	c := cursor{b.from.expected, b.from.next}
	s.mu.Unlock()
	b.from.saveCursor(c, now)
	if !s.isExpired(b.at, now) {
		return b, nil
	}
	b.from.scanner.pos = b.begin
	return s.Next(max, now)
}

// Done removes the lines of a batch, which are delivered.
func (s *Store) Done(b Batch, now time.Time) {
	s.mu.Lock()
	b.from.expected = b.First + uint64(b.Count)
	expected, next := b.from.expected, b.from.next
	s.mu.Unlock()
	b.from.saveCursor(cursor{expected, next}, now)
}

// read returns the next lines of a segment. A batch has no gaps, no lost lines, and no lines
// of two segments. The Count is 0 at the end of the segment, and after an error.
func (s *Store) read(p place, max int, now time.Time) (b Batch, err error) {
	scan := &p.from.scanner
	s.lines = s.lines[:0]
	if cap(s.lines) > 4*max {
		s.lines = nil
	}
	b = Batch{Source: p.from.id, First: p.from.expected, from: p.from}
	for {
		r, ok, err := scan.next(p.size)
		if err != nil && b.Count == 0 {
			return b, p.from.readFailed(p, err)
		}
		if err != nil || !ok {
			return b, nil
		}
		p.from.failed = 0
		want := b.First + uint64(b.Count)
		if r.end() <= want { // delivered before
			scan.pos += r.size()
			continue
		}
		at := time.UnixMilli(r.at)
		whole := r.first == want && r.text != nil && !s.isExpired(at, now)
		if b.Count > 0 && (!whole || len(s.lines)+len(r.text) > max) {
			return b, nil
		}
		scan.pos += r.size()
		if !whole {
			b.First = s.loseRecord(p.from, r, at, now)
			if b.First == r.end() {
				continue
			}
		}
		if b.Count == 0 {
			b.begin, b.at = r.offset, at
		}
		s.lines = append(s.lines, r.text...)
		b.Lines, b.Count = s.lines, int(r.end()-b.First)
	}
}

// maxReads is the number of attempts to read a record. With the delays of the caller, they take
// minutes: a disk in a network may come back.
const maxReads = 20

// readFailed returns the error of a read that may succeed later, or nil. Then it skips the rest of the
// segment, which cannot be read.
func (s *source) readFailed(p place, err error) error {
	s.failed++
	if !errors.Is(err, io.ErrUnexpectedEOF) && s.failed < maxReads {
		return err
	}
	s.failed = 0
	s.scanner.pos = p.size
	return nil
}

// loseRecord counts the lines up to a record that are missing, and those of the record if it is
// damaged or expired. It returns the number of the next line.
func (s *Store) loseRecord(from *source, r record, at, now time.Time) uint64 {
	s.lose(from, r.first, Loss{})
	switch {
	case r.text == nil:
		s.lose(from, r.end(), Loss{})
	case s.isExpired(at, now):
		s.lose(from, r.end(), Loss{Expired: true, Text: r.text})
	default:
		return r.first
	}
	return r.end()
}

// lose counts the lines before end as lost.
func (s *Store) lose(from *source, end uint64, l Loss) {
	s.mu.Lock()
	if from.expected < end {
		l.Lines = end - from.expected
		from.expected = end
	}
	s.mu.Unlock()
	if l.Lines > 0 {
		s.lost(l)
	}
}

func (s *Store) isExpired(at, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.o.Age > 0 && now.Sub(at) > s.o.Age
}

// removeSegment removes the first segment of a source, whose lines are delivered or lost.
func (s *Store) removeSegment(p place) {
	s.mu.Lock()
	expected, next := p.from.expected, p.from.next
	s.mu.Unlock()
	p.from.writeCursor(cursor{expected, next}) // before the file is removed: it shows that nothing is missing
	p.from.closeSegment()
	os.Remove(p.seg.path) // at worst, its lines are delivered again
	s.mu.Lock()
	defer s.mu.Unlock()
	p.from.segments = p.from.segments[1:]
	s.used -= p.size
}

// removeSource removes an inherited source, whose lines are delivered or lost.
func (s *Store) removeSource(from *source) {
	s.mu.Lock()
	s.inherited = s.inherited[1:]
	s.mu.Unlock()
	from.remove() // at worst, another process finds an empty folder
}

// Adopt looks for sources whose processes have ended. It returns the number of lines that they
// have left, which are delivered next. It may return an error in addition.
func (s *Store) Adopt() (lines uint64, err error) {
	entries, err := os.ReadDir(s.folder)
	if err != nil {
		return 0, err // perhaps the folder was removed; Append makes it again
	}
	var errs []error
	for _, e := range entries {
		if !e.IsDir() || !isID(e.Name()) || s.has(e.Name()) {
			continue
		}
		from, err := openSource(filepath.Join(s.folder, e.Name()))
		switch {
		case errors.Is(err, errLocked), errors.Is(err, fs.ErrNotExist):
		case err != nil:
			errs = append(errs, err)
		case from.next == from.expected:
			errs = append(errs, from.remove())
		default:
			lines += from.next - from.expected
			s.inherit(from)
		}
	}
	return lines, errors.Join(errs...)
}

func (s *Store) has(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, from := range s.inherited {
		if from.id == id {
			return true
		}
	}
	return s.own.id == id
}

func (s *Store) inherit(from *source) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inherited = append(s.inherited, from)
	for _, seg := range from.segments {
		s.used += seg.size
	}
}
