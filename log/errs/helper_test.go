package errs_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/weirhq/weir/log"
)

// A loggedError is an error of an event, decoded.
type loggedError struct {
	Message    string          `json:"message"`
	Data       json.RawMessage `json:"data"`
	StackTrace []struct {
		File     string `json:"file"`
		Line     int    `json:"line"`
		Function string `json:"function"`
	} `json:"stack_trace"`
}

// logged returns the errors of an event with err.
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

// loggedOnce returns the only error of an event with err.
func loggedOnce(t testing.TB, err error) loggedError {
	t.Helper()
	all := logged(t, err)
	if len(all) != 1 {
		t.Fatalf("%d errors in the event, want 1: %+v", len(all), all)
	}
	return all[0]
}
