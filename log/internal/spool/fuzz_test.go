package spool

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// FuzzSegment writes arbitrary bytes over a part of a killed process's segment, or appends them, and
// delivers the rest. The
// oracle finds the valid records in the whole file, without a window.
func FuzzSegment(f *testing.F) {
	f.Add([]byte{2, 3, 1}, uint16(40), []byte{0})
	f.Add([]byte{1, 200, 1}, uint16(100), magic[:])
	f.Add([]byte{5}, uint16(0), []byte(nil))
	f.Add([]byte{0, 255, 255}, uint16(30), appendRecord(nil, 7, 3, 1, now, []byte("line 3\n")))
	f.Fuzz(func(t *testing.T, records []byte, at uint16, damage []byte) {
		folder := t.TempDir()
		s, _ := open(t, folder, Options{})
		for _, lines := range records[:min(len(records), 8)] {
			add(t, s, int(lines))
		}
		leave(s)
		files := segments(t, folder)
		if len(files) == 0 {
			return // there are no records
		}
		text, err := os.ReadFile(files[0])
		if err != nil {
			t.Fatal(err)
		}
		text = slices.Replace(text, min(int(at), len(text)), min(int(at)+len(damage), len(text)), damage...)
		if err := os.WriteFile(files[0], text, 0o600); err != nil {
			t.Fatal(err)
		}
		want, end := oracle(text, s.own.seed)
		checkDelivery(t, folder, s.Source(), want, end)
	})
}

// checkDelivery delivers the lines of a source.
func checkDelivery(t *testing.T, folder, source string, want []uint64, end uint64) {
	t.Helper()
	next, lost := open(t, folder, Options{})
	n, err := next.Adopt()
	if err != nil || n != end {
		t.Fatalf("%d lines are adopted, %v; want %d", n, err, end)
	}
	if got := drain(t, next)[source]; !slices.Equal(got, want) || lost.damaged != end-uint64(len(want)) {
		t.Errorf("delivered %v, want %v; lost %+v of %d", got, want, *lost, end)
	}
	closeStore(t, next)
	if _, err := os.Stat(filepath.Join(folder, source)); err == nil {
		t.Error("the folder is left")
	}
}

// oracle returns the numbers of the lines in the valid records of a segment, and the number
// after the last line of which a header is valid.
func oracle(text []byte, seed uint32) (lines []uint64, end uint64) {
	for i := 0; i+headerLen <= len(text); {
		h, ok := parseHeader(text[i:], seed)
		if !ok || i+int(h.size()) > len(text) {
			i++
			continue
		}
		record := text[i : i+int(h.size())]
		var content []byte
		for n := h.first; n < h.end(); n++ {
			content = fmt.Appendf(content, "line %d\n", n)
		}
		if h.end() > end && bytes.Equal(record[headerLen:], content) {
			for n := h.first; n < h.end(); n++ {
				lines = append(lines, n)
			}
		}
		end = max(end, h.end())
		i += len(record)
	}
	return lines, end
}

// TestRecordsInTextAreNotDelivered stores a text that contains records. None of them is delivered by itself,
// even if the record around them is damaged.
func TestRecordsInTextAreNotDelivered(t *testing.T) {
	folder := t.TempDir()
	s, _ := open(t, folder, Options{})
	add(t, s, 1)
	fake := appendRecord(nil, seedOf("00000000000000000000000000000000"), 1, 1, now, []byte("fake\n"))
	far := bytes.Clone(fake)
	binary.LittleEndian.PutUint64(far[20:], 1<<60)
	if err := s.Append(append(append(fake, far...), '\n'), 1, now); err != nil {
		t.Fatal(err)
	}
	add(t, s, 1)
	leave(s)
	file := segments(t, folder)[0]
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text[2*headerLen+7-1] ^= 1 // the last byte of the second header
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	checkDelivery(t, folder, s.Source(), []uint64{0, 2}, 3)
}
