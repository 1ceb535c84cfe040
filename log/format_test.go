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
	} {
		if got, err := log.ParseFormat(name); got != format || err != nil {
			t.Errorf("ParseFormat(%q) = %v, %v", name, got, err)
		}
		if got := format.String(); got != name {
			t.Errorf("String of %d = %q, want %q", format, got, name)
		}
	}
	if got := log.Format(9).String(); got != "format(9)" {
		t.Errorf("String of one that is none = %q", got)
	}
	for _, name := range []string{"", "JSON", "logfmt"} {
		got, err := log.ParseFormat(name)
		if got != log.FormatJSON || err == nil || !strings.Contains(err.Error(), `"`+name+`"`) || !strings.Contains(err.Error(), "json, json-v1, ltsv, human") {
			t.Errorf("ParseFormat(%q) = %v, %v, want an error with what was given and what there is", name, got, err)
		}
	}
}

func TestEachFormatIsItsOwn(t *testing.T) {
	inUTC(t)
	for format, want := range map[log.Format]string{
		log.FormatJSON:   `{"created_at":"2026-11-21T02:06:14.123456Z","namespace":"test","event":"event","severity":3,"data":{"a":1},"errors":[{"message":"e"}]}` + "\n",
		log.FormatJSONv1: `{"created_at":"2026-11-21T02:06:14.123456Z","namespace":"test","event":"event","severity":3,"data":{"a":1},"error":{"error":"e"}}` + "\n",
		log.FormatLTSV:   "time:2026-11-21T02:06:14.123456Z\tlevel:Info\tnamespace:test\tevent:event\ta:1\terr:e\n",
		log.FormatHuman:  "02:06:14.123 INFO  event a=1\n    error: e\n",
		log.Format(9):    `{"created_at":"2026-11-21T02:06:14.123456Z","namespace":"test","event":"event","severity":3,"data":{"a":1},"errors":[{"message":"e"}]}` + "\n",
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

// A wrapped writer shows the one behind it.
type wrapped struct{ io.Writer }

func (w wrapped) Unwrap() io.Writer { return w.Writer }

// TestColorsAreForTerminals takes the one character device that each machine
// has for a terminal.
func TestColorsAreForTerminals(t *testing.T) {
	device, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer device.Close()
	file, err := os.Create(t.TempDir() + "/log")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, c := range []struct {
		name    string
		behind  io.Writer
		noColor string
		want    bool
	}{
		{"device", device, "", true},
		{"device, NO_COLOR", device, "1", false},
		{"file", file, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("NO_COLOR", c.noColor)
			var w lineWriter
			log.New(watched{wrapped{c.behind}, &w}, log.Options{Format: log.FormatHuman}).Error("event").Send()
			if got := strings.Contains(w.lines[0], "\x1b["); got != c.want {
				t.Errorf("coloured: %v, want %v: %q", got, c.want, w.lines[0])
			}
		})
	}
}

// A watched writer is a wrapped one whose lines are kept.
type watched struct {
	wrapped
	lines *lineWriter
}

func (w watched) Write(p []byte) (int, error) { return w.lines.Write(p) }
