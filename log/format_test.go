package log_test

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/weirhq/weir/log"
)

func TestFormatsHaveNames(t *testing.T) {
	for name, format := range map[string]log.Format{
		"json": log.FormatJSON, "json-v1": log.FormatJSONv1, "ltsv": log.FormatLTSV, "human": log.FormatHuman,
		"auto": log.FormatAuto,
	} {
		if got, err := log.ParseFormat(name); got != format || err != nil {
			t.Errorf("ParseFormat(%q) = %v, %v", name, got, err)
		}
		if got := format.String(); got != name {
			t.Errorf("String of %d = %q, want %q", format, got, name)
		}
	}
	if got := log.Format(9).String(); got != "format(9)" {
		t.Errorf("String of an unknown value = %q", got)
	}
	for _, name := range []string{"", "JSON", "logfmt"} {
		got, err := log.ParseFormat(name)
		if got != log.FormatJSON || err == nil || !strings.Contains(err.Error(), `"`+name+`"`) ||
			!strings.Contains(err.Error(), "json, json-v1, ltsv, human, auto") {
			t.Errorf("ParseFormat(%q) = %v, %v, want an error with the name and the known names", name, got, err)
		}
	}
}

func TestEachFormatIsItsOwn(t *testing.T) {
	inUTC(t)
	for format, want := range map[log.Format]string{
		log.FormatJSON: `{"created_at":"2026-11-21T02:06:14.123456Z","namespace":"test","event":"event"` +
			`,"severity":3,"data":{"a":1},"errors":[{"message":"e"}]}` + "\n",
		log.FormatJSONv1: `{"created_at":"2026-11-21T02:06:14.123456Z","namespace":"test","event":"event"` +
			`,"severity":3,"data":{"a":1},"error":{"error":"e"}}` + "\n",
		log.FormatLTSV:  "time:2026-11-21T02:06:14.123456Z\tlevel:Info\tnamespace:test\tevent:event\ta:1\terr:e\n",
		log.FormatHuman: "02:06:14.123 INFO  event a=1\n    error: e\n",
		log.Format(9): `{"created_at":"2026-11-21T02:06:14.123456Z","namespace":"test","event":"event"` +
			`,"severity":3,"data":{"a":1},"errors":[{"message":"e"}]}` + "\n",
	} {
		got := lineWith(t, log.Options{Namespace: "test", Format: format}, func(e log.Event) log.Event {
			return e.Int("a", 1).Err(failureText("e"))
		})
		if got != want {
			t.Errorf("%v:\ngot  %qwant %q", format, got, want)
		}
	}
}

// A failureText is an error without fields.
type failureText string

func (f failureText) Error() string { return string(f) }

// A wrapped writer unwraps to the inner one.
type wrapped struct{ io.Writer }

func (w wrapped) Unwrap() io.Writer { return w.Writer }

// openTerminal opens a terminal: the master of a new pseudo-terminal.
func openTerminal(t *testing.T) *os.File {
	t.Helper()
	file, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no pseudoterminal: %v", err)
	}
	t.Cleanup(func() { file.Close() })
	return file
}

// open opens a file for writing.
func open(t *testing.T, name string) *os.File {
	t.Helper()
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	return file
}

// The beginnings of a line in each format.
const (
	looksColored = "coloured"
	looksPlain   = "plain"
	looksJSON    = "JSON"
)

func TestTerminalsAreRecognized(t *testing.T) {
	terminal, null := openTerminal(t), open(t, os.DevNull)
	file := open(t, t.TempDir()+"/log")
	for _, c := range []struct {
		name   string
		format log.Format
		behind io.Writer
		env    string
		want   string
	}{
		{"human, terminal", log.FormatHuman, terminal, "", looksColored},
		{"human, terminal, NO_COLOR", log.FormatHuman, terminal, "NO_COLOR=1", looksPlain},
		{"human, dumb terminal", log.FormatHuman, terminal, "TERM=dumb", looksPlain},
		{"human, file", log.FormatHuman, file, "", looksPlain},
		{"human, null device", log.FormatHuman, null, "", looksPlain},
		{"auto, terminal", log.FormatAuto, terminal, "", looksColored},
		{"auto, terminal, NO_COLOR", log.FormatAuto, terminal, "NO_COLOR=1", looksPlain},
		{"auto, file", log.FormatAuto, file, "", looksJSON},
		{"auto, null device", log.FormatAuto, null, "", looksJSON},
		{"auto, no file", log.FormatAuto, io.Discard, "", looksJSON},
		{"JSON, terminal", log.FormatJSON, terminal, "", looksJSON},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("NO_COLOR", "")
			t.Setenv("TERM", "xterm")
			if name, value, ok := strings.Cut(c.env, "="); ok {
				t.Setenv(name, value)
			}
			var w lineWriter
			log.New(watched{wrapped{c.behind}, &w}, log.Options{Format: c.format}).Error("event").Send()
			got := looksPlain
			switch line := w.lines[0]; {
			case strings.Contains(line, "\x1b["):
				got = looksColored
			case strings.HasPrefix(line, "{"):
				got = looksJSON
			}
			if got != c.want {
				t.Errorf("the line is %s, want %s: %q", got, c.want, w.lines[0])
			}
		})
	}
}

// A watched writer is a wrapped one that keeps its lines.
type watched struct {
	wrapped
	lines *lineWriter
}

func (w watched) Write(p []byte) (int, error) { return w.lines.Write(p) }
