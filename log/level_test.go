package log_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/weirhq/weir/log"
)

func TestLevelsHaveNamesAndSeverities(t *testing.T) {
	for _, c := range []struct {
		level    log.Level
		name     string
		severity string
	}{
		{log.LevelDebug, "debug", "4"},
		{log.LevelInfo, "info", "3"},
		{log.LevelWarn, "warn", "2"},
		{log.LevelError, "error", "1"},
		{log.LevelFatal, "fatal", "0"},
	} {
		if got := c.level.String(); got != c.name {
			t.Errorf("String of %d = %q, want %q", c.level, got, c.name)
		}
		if got, err := log.ParseLevel(strings.ToUpper(c.name)); got != c.level || err != nil {
			t.Errorf("ParseLevel(%q) = %v, %v", strings.ToUpper(c.name), got, err)
		}
		var w lineWriter
		log.New(&w, log.Options{Level: log.LevelDebug}).Log(c.level, "event").Send()
		if want := `"severity":` + c.severity + "}\n"; !strings.HasSuffix(w.lines[0], want) {
			t.Errorf("%v: got %s want %s", c.level, w.lines[0], want)
		}
		var back struct{ Level log.Level }
		text, err := json.Marshal(struct{ Level log.Level }{c.level})
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &back); err != nil || back.Level != c.level {
			t.Errorf("%s came back as %v, %v", text, back.Level, err)
		}
	}
}

func TestUnknownLevelsHaveNoName(t *testing.T) {
	if _, err := log.ParseLevel("verbose"); err == nil || !strings.Contains(err.Error(), `"verbose"`) ||
		!strings.Contains(err.Error(), "debug, info, warn, error, fatal") {
		t.Errorf("ParseLevel: %v, want the name and the known names", err)
	}
	level := log.LevelWarn
	if err := level.UnmarshalText([]byte("")); err == nil || level != log.LevelWarn {
		t.Errorf("UnmarshalText: %v, and the level is %v", err, level)
	}
	if _, err := log.Level(7).MarshalText(); err == nil {
		t.Error("MarshalText of a level without a name: no error")
	}
	if got := log.Level(7).String(); got != "level(7)" {
		t.Errorf("String = %q", got)
	}
	for level, want := range map[log.Level]string{-128: `"severity":4`, 127: `"severity":0`} {
		var w lineWriter
		log.New(&w, log.Options{Level: log.Level(-128)}).Log(level, "event").Send()
		if !strings.Contains(w.lines[0], want) {
			t.Errorf("level %d: got %s want %s", level, w.lines[0], want)
		}
	}
}
