package recent

import (
	"bytes"
	"strings"
	"testing"

	"github.com/weirhq/weir/log"
)

// A lineWriter is an EventWriter of its lines.
type lineWriter struct{ bytes.Buffer }

func (w *lineWriter) WriteEvent(_ log.Level, line []byte) (int, error) { return w.Write(line) }

func TestTailGetsWhatIsWrittenMeanwhile(t *testing.T) {
	var tap Tap
	var out lineWriter
	w := tap.Writer(&out)
	write := func(line string) {
		if n, err := w.WriteEvent(log.LevelInfo, []byte(line)); n != len(line) || err != nil {
			t.Fatalf("%d, %v", n, err)
		}
	}
	write("before\n")
	first := tap.Join()
	write("one\n")
	second := tap.Join()
	write("two\n")
	expect := func(v *Tail, want string) {
		t.Helper()
		if got, skipped := v.Take(nil); string(got) != want || skipped != 0 {
			t.Errorf("got %q, %d skipped, want %q", got, skipped, want)
		}
	}
	expect(first, "one\ntwo\n")
	expect(second, "two\n")
	tap.Leave(first)
	write("three\n")
	expect(first, "")
	expect(second, "three\n")
	tap.Leave(second)
	if tap.tails.Load() != nil {
		t.Error("the tap is open without a viewer")
	}
	write("after\n")
	if got := out.String(); got != "before\none\ntwo\nthree\nafter\n" {
		t.Errorf("the log has %q", got)
	}
}

func TestTailCountsWhatItSkips(t *testing.T) {
	var tap Tap
	w := tap.Writer(&lineWriter{})
	v := tap.Join()
	line := []byte(strings.Repeat("x", 1023) + "\n")
	for range waitingBytes/len(line) + 7 {
		w.WriteEvent(log.LevelInfo, line)
	}
	if lines, skipped := v.Take(nil); len(lines) != waitingBytes || skipped != 7 {
		t.Errorf("%d bytes, %d skipped; want %d, 7", len(lines), skipped, waitingBytes)
	}
	if lines, skipped := v.Take(nil); len(lines) != 0 || skipped != 0 {
		t.Errorf("taken twice: %d bytes, %d skipped", len(lines), skipped)
	}
}

func TestTapLimitsViewers(t *testing.T) {
	var tap Tap
	var all []*Tail
	for range mostTails {
		all = append(all, tap.Join())
	}
	if tap.Join() != nil {
		t.Errorf("viewer %d was accepted", mostTails+1)
	}
	tap.Leave(all[1])
	if tap.Join() == nil {
		t.Error("no viewer is accepted after one has left")
	}
}
