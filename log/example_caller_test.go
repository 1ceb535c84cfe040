package log_test

import (
	"os"

	"github.com/weirhq/weir/log"
)

func ExampleEvent_Caller() {
	logger := log.New(os.Stdout, log.Options{Namespace: "front-door"})
	logger.Info("no idea how we got here").Caller().At(noon).Send()
	// Output:
	// {"created_at":"2026-11-21T12:00:00Z","namespace":"front-door","event":"no idea how we got here","severity":3,"data":{"caller":"log/example_caller_test.go:11"}}
}
