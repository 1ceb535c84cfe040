package log_test

import (
	"errors"
	"os"

	"github.com/weirhq/weir/log"
)

// The debug events of a job are written only if it fails.
func ExampleHold() {
	logger := log.New(os.Stdout, log.Options{Level: log.LevelDebug})
	var counts log.HoldCounts
	for _, job := range []string{"a", "b"} {
		hold := log.Hold{Counts: &counts}
		of := logger.With().TraceID(job).Hold(&hold).Logger()
		of.Debug("step one").At(noon).Send()
		if job == "b" {
			of.Error("job failed").At(noon).Err(errors.New("no space")).Send()
		}
		hold.Discard()
	}
	logger.Info("counts").At(noon).Int64("discarded", counts.Discarded()).Send()
	// Output:
	// {"created_at":"2026-11-21T12:00:00Z","namespace":"","event":"step one","trace_id":"b","severity":4}
	// {"created_at":"2026-11-21T12:00:00Z","namespace":"","event":"job failed","trace_id":"b","severity":1,"errors":[{"message":"no space"}]}
	// {"created_at":"2026-11-21T12:00:00Z","namespace":"","event":"counts","severity":3,"data":{"discarded":1}}
}
