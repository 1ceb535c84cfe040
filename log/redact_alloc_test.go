package log_test

import (
	"io"
	"strings"
	"testing"

	"github.com/weirhq/weir/log"
)

// TestLimitedLoggersAllocateNothing uses loggers that redact, cut and sample, in each
// format for machines.
func TestLimitedLoggersAllocateNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	long := strings.Repeat("a longer text, \t\u0085 ", 1024)
	dirty := strings.Repeat("token", 3) + "\x1b[31m\xff"
	request := log.HTTP{
		StatusCode: 200, Method: "GET", Path: "/", Query: "page=2&t%6Fken=canary&%2574oken=canary",
		Referer: "https://ada:canary@example.com/?token=canary&a=b",
	}
	for _, format := range wholeLines {
		logger := log.New(io.Discard, log.Options{
			Format: format, Redact: []string{"token", "Authorization"},
			Sampling: &log.Sampling{First: 1 << 20}, // counts, but writes all
		})
		carried := logger.With().TraceID("abcdefghijklmnop").Str("token", "canary").HTTP(&request).Logger()
		thinned := log.New(io.Discard, log.Options{Format: format, Sampling: &log.Sampling{}})
		caller := logger.With().Caller().Logger()
		for name, run := range map[string]func(){
			"redacted": func() {
				logger.Info("event").Str("TOKEN", "canary").Str("a", "b").Int("authorization", 1).Str(dirty, dirty).
					Bytes("token", nil).Send()
			},
			"redacted inside": func() {
				logger.Info("event").Object("o", func(e log.Event) { e.Str("token", "canary").Str("a", "b") }).
					Object("token", func(e log.Event) { e.Str("a", "b") }).Strs("token", nil).Send()
			},
			"redacted request": func() { logger.Info("event").HTTP(&request).Send() },
			"redacted error":   func() { logger.Error("event").Err(errWithFields).Send() },
			"redacted with":    func() { carried.Info("event").Str("token", "canary").Send() },
			"redacted and cut": func() {
				logger.Info("event").HTTP(&request).Str("token", long).Str("a", long).Str("b", long).
					Err(errWithFields).Send()
			},
			"left out":       func() { thinned.Info("event").Str("a", "b").HTTP(&request).Send() },
			"never left out": func() { thinned.Error("event").Str("a", "b").Send() },
			"caller":         func() { logger.Info("event").Caller().Send() },
			"each one's":     func() { caller.Info("event").Send() },
			"stack":          func() { logger.Error("event").Stack().Err(errRefused).Send() },
			"not the event's": func() {
				logger.Info("event").Object("o", func(e log.Event) { e.HTTP(&request) }).
					Send()
			},
		} {
			if got := testing.AllocsPerRun(200, run); got != 0 {
				t.Errorf("%v, %s: %v allocations, want 0", format, name, got)
			}
		}
	}
}

// A pointer as error needs no allocation.
var errWithFields = &fieldedError{}

type fieldedError struct{}

func (*fieldedError) Error() string { return "refused" }
func (*fieldedError) MarshalLog(e log.Event) error {
	e.Str("token", "canary").Int("n", 1)
	return nil
}
