package log_test

import (
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/log"
)

type point struct{ x, y int }

func (p *point) MarshalLog(e log.Event) error {
	e.Int("x", p.x).Int("y", p.y)
	return nil
}

func (p *point) String() string { return "a point" }

// TestCallsOfRequestAllocateNothing covers each call that a request makes.
func TestCallsOfRequestAllocateNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	logger := log.New(io.Discard, log.Options{Namespace: "front-door"})
	request := logger.With().TraceID("abcdefghijklmnop").Str("tenant", "ons").Err(errRefused).Logger()
	now := time.Now()
	sum := []byte{1, 2, 3, 4}
	words, numbers := []string{"a", "b"}, []int{1, 2}
	durations, floats := []time.Duration{1, 2}, []float64{0.5, 1e-9}
	p := &point{1, 2}
	long := strings.Repeat("a longer text, \t\u0085 ", 4096)
	scalars := []any{
		nil, "text", true, 1 << 40, int8(-8), int64(-1), uint32(7), uint64(1), 0.5, float32(0.5), time.Hour,
		log.IdentityUser, namedBool(true), namedInt64(1 << 40), namedUint16(999), namedFloat(0.1),
	}
	others := []any{now, sum, errRefused}
	ctx := log.Into(t.Context(), logger)
	handler := slog.New(logger.Handler())
	var hold log.Hold
	var counts log.HoldCounts
	round := 0
	held := logger.With().Hold(&hold).Logger()
	heldCtx := log.Into(t.Context(), held)
	var known log.EncodedHTTP
	paths := []string{"/a", "/another?"}
	dirty := "tab\tquote\"\x1b[31m\xff 日本語"

	for name, run := range map[string]func(){
		"ten fields":   func() { tenFields(logger.Info("event")).Send() },
		"every scalar": func() { everyScalar(logger.Info("event"), now).Send() },
		"http":         func() { logger.Info("event").TraceID("abc").HTTP(&aRequest).Send() },
		"three events": func() {
			h := aRequest
			h.Encoded = &known
			h.Path = paths[0]
			paths[0], paths[1] = paths[1], paths[0]
			for range 3 {
				logger.Info("event").TraceID("abc").HTTP(&h).Send()
				h.StatusCode++
			}
		},
		"out of order": func() {
			logger.Info("event").Str("a", "b").HTTP(&aRequest).TraceID("abc").Auth("me", log.IdentityUser).Send()
		},
		"at":           func() { logger.Info("event").At(now).Send() },
		"with":         func() { request.Info("event").Int("n", 1).Send() },
		"disabled":     func() { tenFields(logger.Debug("event")).HTTP(&aRequest).Err(errRefused).Send() },
		"error":        func() { logger.Error("event").Err(errRefused).Send() },
		"joined error": func() { logger.Error("event").Err(errJoined).Send() },
		"bytes":        func() { logger.Info("event").Bytes("b", sum).Hex("h", sum).Send() },
		"slices": func() {
			logger.Info("event").Strs("w", words).Ints("n", numbers).Durs("d", durations).Float64s("f", floats).Send()
		},
		"nested": func() {
			logger.Info("event").Object("o", func(e log.Event) {
				e.Int("n", numbers[0]).Array("a", func(e log.Event) {
					for _, w := range words {
						e.Str("", w)
					}
				})
			}).Send()
		},
		"marshaler": func() {
			logger.Info("event").Any("p", p).Object("q", func(e log.Event) { _ = p.MarshalLog(e) }).Send()
		},
		"any": func() {
			e := logger.Info("event")
			for _, v := range scalars {
				e.Any("v", v)
			}
			e.Send()
		},
		"any, others": func() { logger.Info("event").Any("t", others[0]).Any("b", others[1]).Any("e", others[2]).Send() },
		"places":      func() { logger.Error("event").Caller().Stack().Err(errRefused).Send() },
		"context":     func() { log.From(ctx).Info("event").Context(ctx).Send() },
		"slog": func() {
			handler.LogAttrs(ctx, slog.LevelInfo, "event", slog.Int("a", 1), slog.String("b", "c"), slog.Any("e", errRefused))
		},
		"held": func() {
			hold = log.Hold{Counts: &counts}
			for range 3 {
				held.Info("event").Int("n", 1).Send()
			}
			handler.LogAttrs(heldCtx, slog.LevelInfo, "event", slog.Int("a", 1))
			if round++; round%2 == 0 {
				hold.Write()
			} else {
				hold.Discard()
			}
		},
		"stringer": func() { logger.Info("event").Stringer("p", p).Send() },
		"escaped":  func() { logger.Info("event").Str(dirty, dirty).Send() },
		"cut":      func() { logger.Info("event").Str("long", long).Str("too", long).Send() },
		"cut hard": func() { logger.Info("event").Str(long, "value").Str("long", long).Send() },
	} {
		if got := testing.AllocsPerRun(200, run); got != 0 {
			t.Errorf("%s: %v allocations, want 0", name, got)
		}
	}
}

var errJoined = errors.Join(errRefused, errors.New("another"))

func everyScalar(e log.Event, now time.Time) log.Event {
	return e.Str("a", "b").Bool("c", true).
		Int("i", -1).Int8("i8", -8).Int16("i16", -16).Int32("i32", -32).Int64("i64", -64).
		Uint("u", 1).Uint8("u8", 8).Uint16("u16", 16).Uint32("u32", 32).Uint64("u64", 64).
		Float32("f32", 0.1).Float64("f64", 0.1).
		Time("t", now).Dur("d", time.Second)
}
