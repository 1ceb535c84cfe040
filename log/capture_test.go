package log_test

import (
	"bytes"
	"encoding/json"
	"io"
	stdlog "log"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/weirhq/weir/log"
)

// messagesOf returns the field "message" of each line. All lines must have the
// given event and severity.
func messagesOf(t *testing.T, lines []string, event string, severity int) (messages []string) {
	t.Helper()
	for _, line := range lines {
		var got struct {
			Event    string
			Severity int
			Data     struct{ Message *string }
		}
		if err := json.Unmarshal([]byte(line), &got); err != nil || got.Event != event || got.Severity != severity ||
			got.Data.Message == nil {
			t.Fatalf("%v: want %q of severity %d with a message, got %s", err, event, severity, line)
		}
		messages = append(messages, *got.Data.Message)
	}
	return messages
}

func TestDefaultLoggerIsCapturedAndRestored(t *testing.T) {
	var before bytes.Buffer
	stdlog.SetOutput(&before)
	stdlog.SetPrefix("prefix: ")
	flags := stdlog.Flags()
	stdlog.SetFlags(stdlog.Lmsgprefix)
	t.Cleanup(func() {
		stdlog.SetOutput(os.Stderr)
		stdlog.SetPrefix("")
		stdlog.SetFlags(flags)
	})

	var w lineWriter
	restore := log.Capture(stdlog.Default(), log.New(&w, log.Options{}), log.LevelWarn, "message of a package")
	stdlog.Print("one")
	stdlog.Printf("two\nlines, and a \x1b[31m")
	stdlog.Println()
	want := []string{"one", "two\nlines, and a \x1b[31m", ""}
	if got := messagesOf(t, w.lines, "message of a package", 2); strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("messages %q, want %q", got, want)
	}
	if before.Len() > 0 {
		t.Errorf("written to the earlier writer: %q", before.String())
	}

	restore()
	stdlog.Print("three")
	if got, want := before.String(), "prefix: three\n"; got != want || len(w.lines) != 3 {
		t.Errorf("once restored: %q and %d lines, want %q and 3", got, len(w.lines), want)
	}
	if stdlog.Flags() != stdlog.Lmsgprefix {
		t.Errorf("flags %d, want %d", stdlog.Flags(), stdlog.Lmsgprefix)
	}
}

// TestErrorsOfServerBecomeEvents captures the error log of a server whose handler panics.
func TestErrorsOfServerBecomeEvents(t *testing.T) {
	var w syncedLines
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("why") }))
	server.Config.ErrorLog = stdlog.New(io.Discard, "", stdlog.LstdFlags)
	log.Capture(server.Config.ErrorLog, log.New(&w, log.Options{}), log.LevelError, "http server complaint")
	server.Start()
	defer server.Close()
	if answer, err := server.Client().Get(server.URL); err == nil {
		answer.Body.Close()
		t.Fatal("the handler panicked, yet there was an answer")
	}
	server.Close()
	messages := messagesOf(t, w.all(), "http server complaint", 1)
	if len(messages) != 1 || !strings.HasPrefix(messages[0], "http: panic serving 127.0.0.1:") ||
		!strings.Contains(messages[0], "goroutine ") {
		t.Errorf("messages %q, want one of the panic, with its stack", messages)
	}
}

// A syncedLines is a lineWriter that is safe for concurrent use.
type syncedLines struct {
	mu sync.Mutex // guards lines
	lineWriter
}

func (w *syncedLines) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lineWriter.Write(p)
}

func (w *syncedLines) all() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lines
}

func TestCaptureBelowTheLevelLogsNothing(t *testing.T) {
	var w lineWriter
	std := stdlog.New(io.Discard, "", 0)
	log.Capture(std, log.New(&w, log.Options{}), log.LevelDebug, "message")
	std.Print("not enabled")
	log.Capture(std, nil, log.LevelFatal, "message")
	std.Print("a logger that discards")
	if len(w.lines) != 0 {
		t.Errorf("%d lines, want none: %q", len(w.lines), w.lines)
	}
}

// TestCapturesNest checks that each of two captures restores the state that it
// found.
func TestCapturesNest(t *testing.T) {
	var outer, inner lineWriter
	std := stdlog.New(io.Discard, "p", 0)
	restoreOuter := log.Capture(std, log.New(&outer, log.Options{}), log.LevelInfo, "outer")
	restoreInner := log.Capture(std, log.New(&inner, log.Options{}), log.LevelInfo, "inner")
	std.Print("1")
	restoreInner()
	std.Print("2")
	restoreOuter()
	std.Print("3")
	if len(inner.lines) != 1 || len(outer.lines) != 1 || std.Prefix() != "p" {
		t.Errorf("inner %q, outer %q, prefix %q", inner.lines, outer.lines, std.Prefix())
	}
}

// TestCaptureHasNoCaller captures with a logger that adds callers. Events must
// have none: the caller is unknown, and the line in this package is of no use.
func TestCaptureHasNoCaller(t *testing.T) {
	var w lineWriter
	logger := log.New(&w, log.Options{}).With().Caller().Logger()
	std := stdlog.New(io.Discard, "", 0)
	log.Capture(std, logger, log.LevelInfo, "message")
	std.Print("x")
	logger.Info("event").Send()
	if strings.Contains(w.lines[0], `"caller"`) || !strings.Contains(w.lines[1], `"caller"`) {
		t.Errorf("got %q, want a caller in the second only", w.lines)
	}
}
