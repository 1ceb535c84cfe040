package errs_test

import (
	"errors"
	"io"
	"testing"
	"time"

	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/errs"
)

var kept error // keeps the compiler from removing the measured code

func TestCallsAllocateTheExpectedNumber(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	now := time.Now()
	long := "a string " + now.String()
	inner := errs.New("inner").Str("a", long)
	for name, c := range map[string]struct {
		want float64
		run  func()
	}{
		"new":               {1, func() { kept = errs.New("x") }},
		"new, 2 fields":     {1, func() { kept = errs.New("x").Str("a", long).Int64("n", 1<<40) }},
		"new, 3 fields":     {2, func() { kept = errs.New("x").Float64("a", 0.5).Dur("d", 1<<40).Bool("b", true) }},
		"wrap, plain":       {1, func() { kept = errs.Wrap(io.EOF, "x").Time("t", now).Uint64("n", 1<<60) }},
		"wrap, has a stack": {1, func() { kept = errs.Wrap(inner, "x").Str("a", long).Int("n", 1<<30) }},
		"any":               {2, func() { kept = errs.New("x").Any("a", inner) }},
	} {
		if got := testing.AllocsPerRun(200, c.run); got != c.want {
			t.Errorf("%s: %v allocations, want %v", name, got, c.want)
		}
	}
}

// TestFieldsAllocateNothingMore checks that fields cost the event no allocation: an
// error with a stack and fields allocates as much as its stack.
func TestFieldsAllocateNothingMore(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	logger := log.New(io.Discard, log.Options{})
	bare := errs.New("x")
	full := errs.New("x").Str("a", "b").Int("n", 1).Time("t", time.Now()).Any("s", "text")
	measure := func(err error) float64 {
		return testing.AllocsPerRun(200, func() { logger.Error("event").Err(err).Send() })
	}
	if got, want := measure(full), measure(bare); got > want {
		t.Errorf("with fields: %v allocations, without: %v", got, want)
	}
}

func BenchmarkError(b *testing.B) {
	inner := errs.New("inner")
	for name, run := range map[string]func(){
		"errors.New":           func() { kept = errors.New("x") },
		"New":                  func() { kept = errs.New("x") },
		"New with 2 fields":    func() { kept = errs.New("x").Str("a", "b").Int64("n", 1<<40) },
		"Wrap of a traced one": func() { kept = errs.Wrap(inner, "x").Str("a", "b").Int64("n", 1<<40) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				run()
			}
		})
	}
}
