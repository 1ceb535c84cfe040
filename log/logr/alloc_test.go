package logr_test

import (
	"errors"
	"io"
	"testing"

	gologr "github.com/go-logr/logr"

	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/logr"
)

// TestSinkAllocatesLittle passes values that are interfaces already, because converting them
// is the caller's cost.
func TestSinkAllocatesLittle(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	l := logr.New(log.New(io.Discard, log.Options{Level: log.LevelInfo}))
	named := l.WithName("controller").WithValues("namespace", "default", "name", "web")
	caller := logr.New(log.New(io.Discard, log.Options{}).With().Caller().Logger())
	failed := errors.New("gone")
	four := []any{"a", "text", "b", 1, "c", true, "d", "more"}
	ten := append(four[:len(four):len(four)], "e", 1, "f", 2, "g", 3, "h", 4, "i", 5, "j", 6)
	var m any = pod{"web", "secret"}
	for _, c := range []struct {
		name string
		call func()
		want float64
	}{
		{"message", func() { l.Info("x") }, 0},
		{"four values", func() { l.Info("x", four...) }, 0},
		{"four values behind a name and two", func() { named.Info("x", four...) }, 0},
		{"error and four values", func() { l.Error(failed, "x", four...) }, 0},
		{"disabled", func() { l.V(1).Info("x", four...) }, 0},
		{"caller", func() { caller.Info("x", four...) }, 0},
		{"ten values", func() { l.Info("x", ten...) }, 2},
		// a slog.Record holds five attributes, the scratch array eight
		{"Marshaler", func() { l.Info("x", "pod", m) }, 6},
	} {
		if got := testing.AllocsPerRun(1000, c.call); got > c.want {
			t.Errorf("%s: %v allocations, want %v at most", c.name, got, c.want)
		}
	}
}

func BenchmarkInfo(b *testing.B) {
	l := logr.New(log.New(io.Discard, log.Options{})).WithName("controller").
		WithValues("namespace", "default", "name", "web")
	fromHandler := gologr.FromSlogHandler(log.New(io.Discard, log.Options{}).Handler()).WithName("controller").
		WithValues("namespace", "default", "name", "web")
	b.Run("logr", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			l.Info("x", "a", "text", "b", 1, "c", true)
		}
	})
	b.Run("FromSlogHandler", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			fromHandler.Info("x", "a", "text", "b", 1, "c", true)
		}
	})
}
