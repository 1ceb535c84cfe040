package log_test

import (
	"encoding/json"
	"flag"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/weirhq/weir/log"
)

func TestLevelVarIsAFlag(t *testing.T) {
	parse := func(level *log.LevelVar, args ...string) error {
		flags := flag.NewFlagSet("test", flag.ContinueOnError)
		flags.SetOutput(io.Discard)
		flags.TextVar(level, "log-level", level, "the least `level` that is logged")
		return flags.Parse(args)
	}
	var level log.LevelVar
	if err := parse(&level); err != nil || level.Level() != log.LevelInfo {
		t.Errorf("without the flag: %v, %v, want info", level.Level(), err)
	}
	if err := parse(&level, "-log-level", "WARN"); err != nil || level.Level() != log.LevelWarn {
		t.Errorf("WARN: %v, %v", level.Level(), err)
	}
	if err := parse(&level, "-log-level", "loud"); err == nil || !strings.Contains(err.Error(), `"loud"`) ||
		level.Level() != log.LevelWarn {
		t.Errorf("loud: %v, and the level is %v, want an error and warn as before", err, level.Level())
	}
}

func TestLevelVarIsReadAndWrittenAsJSON(t *testing.T) {
	var settings struct{ Level log.LevelVar }
	if err := json.Unmarshal([]byte(`{"Level":"error"}`), &settings); err != nil ||
		settings.Level.Level() != log.LevelError {
		t.Errorf("got %v, %v, want error", settings.Level.Level(), err)
	}
	if text, err := json.Marshal(&settings); err != nil || string(text) != `{"Level":"error"}` {
		t.Errorf("got %s, %v", text, err)
	}
	if got := settings.Level.String(); got != "error" {
		t.Errorf("String = %q", got)
	}
}

// TestLoggersFollowTheirLevelVar changes the level of existing loggers, derived
// from one another.
func TestLoggersFollowTheirLevelVar(t *testing.T) {
	var level log.LevelVar
	var w lineWriter
	logger := log.New(&w, log.Options{Level: &level})
	child := logger.With().Str("a", "b").Logger()
	std := slog.New(child.Handler()).With("c", "d")
	for _, c := range []struct {
		level log.Level
		want  int
	}{{log.LevelInfo, 0}, {log.LevelDebug, 3}, {log.LevelFatal, 0}, {log.LevelDebug, 3}} {
		level.Set(c.level)
		w.lines = nil
		logger.Debug("event").Send()
		child.Debug("event").Send()
		std.Debug("event")
		if len(w.lines) != c.want || logger.Enabled(log.LevelDebug) != (c.want > 0) {
			t.Errorf("at %v: %d lines, want %d", c.level, len(w.lines), c.want)
		}
	}
}

// TestLevelChangesWhileOthersLog changes the level up and down while others log
// errors. All errors must be written.
func TestLevelChangesWhileOthersLog(t *testing.T) {
	const goroutines, each = 4, 500
	var level log.LevelVar
	var w lineWriter
	logger := log.New(&w, log.Options{Level: &level})
	var writers, changer sync.WaitGroup
	done := make(chan struct{})
	changer.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
				level.Set(log.LevelDebug)
				level.Set(log.LevelError)
			}
		}
	})
	for range goroutines {
		writers.Go(func() {
			for range each {
				logger.Debug("now and then").Send()
				logger.Error("always").Send()
			}
		})
	}
	writers.Wait()
	close(done)
	changer.Wait()
	always := 0
	for _, line := range w.lines {
		if strings.Contains(line, `"event":"always"`) {
			always++
		}
	}
	if always != goroutines*each {
		t.Errorf("%d errors, want %d", always, goroutines*each)
	}
}
