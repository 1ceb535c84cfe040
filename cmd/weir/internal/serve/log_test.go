package serve

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirhq/weir/front/logto"
	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/sink"
)

// TestErrorReporterPrintsErrorsOnce checks that a new error is printed immediately, and the same
// one at most once a minute.
func TestErrorReporterPrintsErrorsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said bytes.Buffer
		g := errorReporter{stderr: &said}
		full, gone := errors.New("full"), errors.New("gone")
		for range 10 {
			g.report(full)
			time.Sleep(time.Second)
		}
		g.report(gone)
		g.report(full)
		for range 70 {
			g.report(full)
			time.Sleep(time.Second)
		}
		want := "weir: the log: full\nweir: the log: gone\nweir: the log: full\n"
		if got := said.String(); got != want {
			t.Errorf("said %q, want %q", got, want)
		}
	})
}

// TestErrorReporterPrintsEachFileOnce reports two files that cannot be renamed. Each attempt
// has another new name.
func TestErrorReporterPrintsEachFileOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said bytes.Buffer
		g := errorReporter{stderr: &said}
		for i := range 30 {
			for _, file := range []string{"a.log", "b.log"} {
				g.report(&os.LinkError{Op: "rename", Old: file, New: fmt.Sprint(file, i), Err: os.ErrPermission})
			}
			time.Sleep(time.Second)
		}
		if n := bytes.Count(said.Bytes(), []byte{'\n'}); n != 2 {
			t.Errorf("said %d things in half a minute, want one of each file:\n%s", n, &said)
		}
	})
}

func TestLossSummaryCountsLostEvents(t *testing.T) {
	t.Parallel()
	for want, s := range map[string]sink.Stats{
		"": {Emitted: 7, Written: 7},
		"weir: the log to a.log lacks 3 of 10 events (full info: 2, write_error warn: 1)": {
			Emitted: 10, Written: 7,
			Dropped: []sink.Loss{{Level: log.LevelInfo, Reason: sink.Full, Events: 2},
				{Level: log.LevelWarn, Reason: sink.WriteError, Events: 1}},
		},
	} {
		if got := lossSummary(logto.Destination{To: "a.log", Stats: s}); got != want {
			t.Errorf("lossSummary = %q, want %q", got, want)
		}
	}
}
