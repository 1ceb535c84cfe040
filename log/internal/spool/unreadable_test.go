package spool

import (
	"errors"
	"io"
	"slices"
	"syscall"
	"testing"
)

// A badDisk cannot read the byte at an offset for a number of attempts, or ever if it is negative.
type badDisk struct {
	io.ReaderAt
	bad   int64
	times int
}

func (d *badDisk) ReadAt(p []byte, at int64) (int, error) {
	if at > d.bad || at+int64(len(p)) <= d.bad || d.times == 0 {
		return d.ReaderAt.ReadAt(p, at)
	}
	d.times--
	n, err := d.ReaderAt.ReadAt(p[:d.bad-at], at)
	return n, errors.Join(err, syscall.EIO)
}

// openBad opens a store with 100 records of one line, of which the disk cannot read one in the middle.
func openBad(t *testing.T, times int) (*Store, *losses) {
	t.Helper()
	s, lost := open(t, t.TempDir(), Options{})
	add(t, s, slices.Repeat([]int{1}, 100)...)
	seg := s.own.segments[0]
	if err := s.own.openFirst(seg); err != nil {
		t.Fatal(err)
	}
	s.own.scanner.file = &badDisk{s.own.scanner.file, seg.size / 2, times}
	return s, lost
}

// drainBad is drain with errors of the disk, which it counts.
func drainBad(t *testing.T, s *Store) (lines, failed int) {
	t.Helper()
	for {
		b, err := s.Next(100, now)
		switch {
		case errors.Is(err, syscall.EIO) && failed < 2*maxReads:
			failed++
			continue
		case err != nil:
			t.Fatal(err)
		case b.Count == 0:
			return lines, failed
		}
		if b.First != uint64(lines) {
			t.Errorf("line %d follows %d lines", b.First, lines)
		}
		lines += b.Count
		s.Done(b, now)
	}
}

// TestReadThatFailsForAWhileLosesNoLine reads from a disk that fails a few times.
func TestReadThatFailsForAWhileLosesNoLine(t *testing.T) {
	s, lost := openBad(t, 5)
	if lines, failed := drainBad(t, s); lines != 100 || failed == 0 || *lost != (losses{}) {
		t.Errorf("%d lines after %d errors; lost: %+v", lines, failed, *lost)
	}
	closeStore(t, s)
}

// TestRecordThatCannotBeReadIsLost reads from a disk with a bad sector. The lines before it are delivered. The reads end,
// and later lines are delivered.
func TestRecordThatCannotBeReadIsLost(t *testing.T) {
	s, lost := openBad(t, -1)
	lines, failed := drainBad(t, s)
	if lines < 40 || lines >= 60 || lost.damaged != uint64(100-lines) || failed != maxReads-1 {
		t.Errorf("%d lines after %d errors; lost: %+v", lines, failed, *lost)
	}
	add(t, s, 3)
	if got := drain(t, s)[s.Source()]; !slices.Equal(got, []uint64{100, 101, 102}) {
		t.Errorf("later lines: %v", got)
	}
	closeStore(t, s)
}
