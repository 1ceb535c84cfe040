package spool

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// now is the time of all calls. Only TestOldRecordsExpire needs another.
var now = time.UnixMilli(1_800_000_000_000)

// losses adds up the losses of a store.
type losses struct{ damaged, expired uint64 }

func (l *losses) add(loss Loss) {
	if loss.Expired {
		l.expired += loss.Lines
	} else {
		l.damaged += loss.Lines
	}
}

func open(t testing.TB, folder string, o Options) (*Store, *losses) {
	t.Helper()
	lost := new(losses)
	if o.Bytes == 0 {
		o.Bytes = 1 << 30
	}
	s, err := Open(folder, o, lost.add)
	if err != nil {
		t.Fatal(err)
	}
	return s, lost
}

// add appends records of the given numbers of lines. Line n of a store is "line n".
func add(t testing.TB, s *Store, records ...int) {
	t.Helper()
	for _, lines := range records {
		var text []byte
		for i := range lines {
			text = fmt.Appendf(text, "line %d\n", s.own.next+uint64(i))
		}
		if err := s.Append(text, lines, now); err != nil {
			t.Fatal(err)
		}
	}
}

// drain delivers all lines, and returns the numbers of those of each source. It checks each
// line.
func drain(t testing.TB, s *Store) map[string][]uint64 {
	t.Helper()
	got := map[string][]uint64{}
	for {
		b, err := s.Next(100, now)
		if err != nil {
			t.Fatal(err)
		}
		if b.Count == 0 {
			return got
		}
		lines := bytes.SplitAfter(b.Lines, []byte("\n"))
		if len(lines) != b.Count+1 {
			t.Fatalf("%d lines, Count is %d", len(lines)-1, b.Count)
		}
		for i, line := range lines[:b.Count] {
			n := b.First + uint64(i)
			if want := fmt.Sprintf("line %d\n", n); string(line) != want {
				t.Fatalf("line %d is %q", n, line)
			}
			got[b.Source] = append(got[b.Source], n)
		}
		s.Done(b, now)
	}
}

// leave ends the use of a store as SIGKILL does.
func leave(s *Store) {
	s.own.lock.Close()
	s.own.closeSegment()
	for _, from := range s.inherited {
		from.close()
	}
	if s.out != nil {
		s.out.Close()
	}
}

func closeStore(t testing.TB, s *Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func segments(t testing.TB, folder string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*", "*"+segmentSuffix))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestStoreDeliversAndRemovesSegments appends and delivers in turn, with small segments. Delivered segments are
// removed, and a closed store without lines leaves nothing.
func TestStoreDeliversAndRemovesSegments(t *testing.T) {
	folder := t.TempDir()
	s, lost := open(t, folder, Options{Bytes: 8 << 10}) // segments of 1 KiB
	var want uint64
	for round := range 50 {
		add(t, s, 1, 20, 3, round%7)
		want += 24 + uint64(round%7)
		if lines, _ := s.Waiting(); round%3 == 2 {
			if got := drain(t, s)[s.Source()]; uint64(len(got)) != lines || got[len(got)-1] != want-1 {
				t.Fatalf("%d lines, want %d to %d", len(got), lines, want)
			}
			if lines, bytes := s.Waiting(); lines != 0 || bytes > 2<<10 || len(segments(t, folder)) > 1 {
				t.Errorf("%d lines wait; %d bytes in %d segments", lines, bytes, len(segments(t, folder)))
			}
		}
	}
	drain(t, s)
	closeStore(t, s)
	if *lost != (losses{}) {
		t.Errorf("lost: %+v", *lost)
	}
	if left, _ := os.ReadDir(folder); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// TestFullStoreRefusesLines appends until the store is full. Delivered lines make space.
func TestFullStoreRefusesLines(t *testing.T) {
	s, _ := open(t, t.TempDir(), Options{Bytes: 8 << 10})
	defer closeStore(t, s)
	n := uint64(0)
	for ; ; n++ {
		err := s.Append(fmt.Appendf(nil, "line %d\n", n), 1, now)
		if errors.Is(err, ErrFull) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, bytes := s.Waiting(); bytes > 8<<10 || bytes < 7<<10 {
		t.Errorf("full with %d bytes", bytes)
	}
	if got := drain(t, s)[s.Source()]; uint64(len(got)) != n {
		t.Errorf("%d lines, want %d", len(got), n)
	}
	add(t, s, 5)
	drain(t, s)
	// One record may be longer than the store.
	if err := s.Append(make([]byte, 100<<10), 1, now); err != nil {
		t.Error(err)
	}
	if b, err := s.Next(10, now); err != nil || len(b.Lines) != 100<<10 {
		t.Errorf("%d bytes, %v", len(b.Lines), err)
	} else {
		s.Done(b, now)
	}
}

// TestLinesOfKilledProcessesAreAdopted leaves lines as killed processes do, some of them delivered. The next process
// delivers the others, and no process gets the lines of one that lives.
func TestLinesOfKilledProcessesAreAdopted(t *testing.T) {
	folder := t.TempDir()
	killed, _ := open(t, folder, Options{Bytes: 8 << 10})
	add(t, killed, 10, 100, 10, 100)
	first, err := killed.Next(100, now)
	if err != nil || first.Count != 10 {
		t.Fatalf("%d lines, %v", first.Count, err)
	}
	killed.Done(first, now) // writes the cursor
	second, err := killed.Next(1<<20, now)
	if err != nil {
		t.Fatal(err)
	}
	killed.Done(second, now) // does not
	alive, _ := open(t, folder, Options{})
	add(t, alive, 3)
	if n, err := alive.Adopt(); n != 0 || err != nil {
		t.Errorf("adopts %d lines of a process that lives: %v", n, err)
	}
	leave(killed)
	if n, err := alive.Adopt(); n != 210 || err != nil {
		t.Errorf("adopts %d lines, %v, want 210", n, err)
	}
	other, _ := open(t, folder, Options{})
	if n, err := other.Adopt(); n != 0 || err != nil {
		t.Errorf("a third process adopts %d lines, %v", n, err)
	}
	closeStore(t, other)
	got := drain(t, alive)
	if n := got[killed.Source()]; len(n) != 210 || n[0] != 10 || n[209] != 219 {
		t.Errorf("%d lines of the killed process: %v", len(n), n)
	}
	if n := got[alive.Source()]; len(n) != 3 {
		t.Errorf("own lines: %v", n)
	}
	closeStore(t, alive)
	if left, _ := os.ReadDir(folder); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// TestDeliveredLinesAreNotDeliveredAgain delivers lines within a second, and none in the next one: because there
// are none, or because the server is not available. After SIGKILL none is delivered again.
func TestDeliveredLinesAreNotDeliveredAgain(t *testing.T) {
	for waiting := range 2 {
		folder := t.TempDir()
		s, _ := open(t, folder, Options{})
		next := func(now time.Time, want int) Batch {
			t.Helper()
			b, err := s.Next(1, now)
			if b.Count != want || err != nil {
				t.Fatalf("%d lines, %v", b.Count, err)
			}
			return b
		}
		add(t, s, 1, 1, 1)
		for range 3 {
			s.Done(next(now, 1), now)
		}
		if waiting == 0 {
			next(now.Add(cursorPause), 0)
		} else {
			add(t, s, 1)
			if _, err := s.Again(next(now, 1), 1, now.Add(cursorPause)); err != nil {
				t.Fatal(err)
			}
		}
		leave(s)
		after, _ := open(t, folder, Options{})
		if n, err := after.Adopt(); n != uint64(waiting) || err != nil {
			t.Errorf("%d lines adopted, %v, want %d", n, err, waiting)
		}
		after.Close()
	}
}

// TestOpenSucceedsDuringAdoption opens sources while other processes look for those of ended processes, and
// may find the folder of a source before it is locked.
func TestOpenSucceedsDuringAdoption(t *testing.T) {
	folder := t.TempDir()
	var searching sync.WaitGroup
	end := make(chan struct{})
	for range 2 {
		other, _ := open(t, folder, Options{})
		searching.Go(func() {
			defer other.Close()
			for {
				select {
				case <-end:
					return
				default:
					other.Adopt()
				}
			}
		})
	}
	for range 300 {
		s, err := Open(folder, Options{Bytes: 1 << 20}, nil)
		if err != nil {
			t.Error(err)
			break
		}
		add(t, s, 1)
		leave(s)
	}
	close(end)
	searching.Wait()
}

// TestTornRecordIsNotCountedAsLost ends the last record early, as SIGKILL during a write does: at every byte.
// The record was not stored, and is not counted as lost.
func TestTornRecordIsNotCountedAsLost(t *testing.T) {
	for cut := range 60 {
		folder := t.TempDir()
		s, _ := open(t, folder, Options{})
		add(t, s, 2, 3)
		file := segments(t, folder)[0]
		whole, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		add(t, s, 3) // 36 + 21 bytes
		leave(s)
		if err := os.Truncate(file, whole.Size()+int64(min(cut, 56))); err != nil {
			t.Fatal(err)
		}
		next, lost := open(t, folder, Options{})
		if n, err := next.Adopt(); n != 5 || err != nil {
			t.Errorf("cut after %d bytes: adopts %d lines, %v", cut, n, err)
		}
		if got := drain(t, next)[s.Source()]; len(got) != 5 || *lost != (losses{}) {
			t.Errorf("cut after %d bytes: %v, lost %+v", cut, got, *lost)
		}
		closeStore(t, next)
	}
}

// TestDamagedRecordLosesOnlyItsLines flips each bit of a record among others, in turn. Its lines are counted as
// damaged, and all others are delivered.
func TestDamagedRecordLosesOnlyItsLines(t *testing.T) {
	folder := t.TempDir()
	s, _ := open(t, folder, Options{})
	add(t, s, 2)
	begin := s.own.last().size
	add(t, s, 3)
	end := s.own.last().size
	add(t, s, 2)
	leave(s)
	file := segments(t, folder)[0]
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for bit := 8 * begin; bit < 8*end; bit++ {
		damaged := bytes.Clone(text)
		damaged[bit/8] ^= 1 << (bit % 8)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		next, lost := open(t, folder, Options{})
		n, err := next.Adopt()
		if got := drain(t, next)[s.Source()]; n != 7 || err != nil || len(got) != 4 || lost.damaged != 3 {
			t.Errorf("bit %d: %d adopted, %v; %v, lost %+v", bit, n, err, got, *lost)
		}
		closeStore(t, next)
	}
}

// TestLinesOfMissingFilesAreCounted removes or damages whole files. All lines are delivered or counted.
func TestLinesOfMissingFilesAreCounted(t *testing.T) {
	remove := func(t *testing.T, file string) {
		if err := os.Remove(file); err != nil {
			t.Error(err)
		}
	}
	for name, c := range map[string]struct {
		damage  func(t *testing.T, dir string, segments []string)
		lost    uint64
		waiting uint64
	}{
		"the first segment": {func(t *testing.T, _ string, s []string) { remove(t, s[0]) }, 100, 300},
		"a segment":         {func(t *testing.T, _ string, s []string) { remove(t, s[1]) }, 100, 300},
		"an empty segment":  {func(t *testing.T, _ string, s []string) { os.Truncate(s[1], 0) }, 100, 300},
		"half of a segment": {func(t *testing.T, _ string, s []string) { os.Truncate(s[1], 600) }, 100, 300},
		"the cursor": {func(t *testing.T, dir string, _ []string) {
			remove(t, filepath.Join(dir, cursorName))
		}, 0, 300},
		"a part of a cursor": {func(t *testing.T, dir string, _ []string) {
			os.Truncate(filepath.Join(dir, cursorName), 7)
		}, 0, 300},
		"the lock": {func(t *testing.T, dir string, _ []string) { remove(t, filepath.Join(dir, lockName)) }, 0, 300},
		"other files": {func(t *testing.T, dir string, _ []string) {
			os.WriteFile(filepath.Join(dir, "note.seg"), []byte("x"), 0o600)
			os.WriteFile(filepath.Join(dir, "9.seg.old"), []byte("x"), 0o600)
		}, 0, 300},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			s, _ := open(t, folder, Options{Bytes: 8 << 10})
			add(t, s, 100, 100, 100) // one segment for each
			leave(s)
			files := segments(t, folder)
			if len(files) != 3 {
				t.Fatalf("segments: %v", files)
			}
			c.damage(t, s.own.dir, files)
			next, lost := open(t, folder, Options{})
			n, err := next.Adopt()
			got := drain(t, next)[s.Source()]
			if n != c.waiting || err != nil || uint64(len(got))+c.lost != c.waiting || lost.damaged != c.lost {
				t.Errorf("%d adopted, %v; %d delivered, lost %+v", n, err, len(got), *lost)
			}
			next.Close()
		})
	}
}

// TestRemovedFolderIsMadeAgain removes the folder and prevents that it is made again. Appends fail until it
// can be made, and no line that was appended later is lost.
func TestRemovedFolderIsMadeAgain(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "spill")
	s, lost := open(t, folder, Options{})
	add(t, s, 3)
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(folder, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := s.Append([]byte("line 3\n"), 1, now.Add(folderPause)); err == nil {
			t.Error("a line was appended without a folder")
		}
	}
	if err := os.Remove(folder); err != nil {
		t.Fatal(err)
	}
	add(t, s, 2, 2)
	if got := drain(t, s)[s.Source()]; len(got) != 4 || got[0] != 3 || lost.damaged != 3 {
		t.Errorf("lines %d are delivered, lost %+v", got, *lost)
	}
	closeStore(t, s)
}

// TestOldRecordsExpire delivers records of different ages.
func TestOldRecordsExpire(t *testing.T) {
	s, lost := open(t, t.TempDir(), Options{Age: time.Hour})
	defer closeStore(t, s)
	for i := range 10 {
		at := now.Add(-time.Duration(9-i) * 10 * time.Minute) // 90, 80, … 0 minutes ago
		if err := s.Append(fmt.Appendf(nil, "line %d\n", i), 1, at); err != nil {
			t.Fatal(err)
		}
	}
	b, err := s.Next(1<<20, now)
	if err != nil || b.First != 3 || b.Count != 7 || lost.expired != 3 {
		t.Fatalf("%+v, %v, lost %+v", b, err, *lost)
	}
	// The delivery fails, and is tried again.
	if b, err = s.Again(b, 1<<20, now); err != nil || b.Count != 7 {
		t.Errorf("again: %+v, %v", b, err)
	}
	b, err = s.Again(b, 1<<20, now.Add(15*time.Minute))
	if err != nil || b.First != 5 || b.Count != 5 || lost.expired != 5 {
		t.Errorf("after a quarter of an hour: %+v, %v, lost %+v", b, err, *lost)
	}
	b, err = s.Again(b, 1<<20, now.Add(24*time.Hour))
	if err != nil || b.Count != 0 || lost.expired != 10 || !s.IsEmpty() {
		t.Errorf("after a day: %+v, %v, lost %+v", b, err, *lost)
	}
}
