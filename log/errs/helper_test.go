package errs_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/weirhq/weir/log"
)

// A loggedError is one of an event's errors, as a consumer reads it.
type loggedError struct {
	Message    string          `json:"message"`
	Data       json.RawMessage `json:"data"`
	StackTrace []struct {
		File     string `json:"file"`
		Line     int    `json:"line"`
		Function string `json:"function"`
	} `json:"stack_trace"`
}

// logged returns what an event says about the error.
func logged(t testing.TB, err error) []loggedError {
	t.Helper()
	var line bytes.Buffer
	log.New(&line, log.Options{}).Error("event").Err(err).Send()
	var event struct{ Errors []loggedError }
	if err := json.Unmarshal(line.Bytes(), &event); err != nil {
		t.Fatalf("%v in %s", err, line.Bytes())
	}
	return event.Errors
}

// loggedOnce returns it for an error that must make one.
func loggedOnce(t testing.TB, err error) loggedError {
	t.Helper()
	all := logged(t, err)
	if len(all) != 1 {
		t.Fatalf("%d errors in the event, want 1: %+v", len(all), all)
	}
	return all[0]
}
