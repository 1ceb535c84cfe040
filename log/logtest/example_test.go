package logtest_test

import (
	"fmt"
	"testing"

	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/logtest"
)

// t replaces the argument of a test function.
var t testing.TB = new(fakeT)

func save(logger *log.Logger, id int64) {
	logger.Info("user saved").Int64("user_id", id).Send()
}

func ExampleNew() {
	logger, events := logtest.New(t)
	save(logger, 42)
	if got := events.One("user saved").Value("user_id"); got != int64(42) {
		t.Errorf("user_id %v, want 42", got)
	}
	fmt.Println(len(events.All()))
	// Output:
	// 1
}

func ExampleNewEvents() {
	events := logtest.NewEvents(t)
	logger := log.New(events, log.Options{Redact: []string{"password"}})
	logger.Info("login").Str("password", "hunter2").Send()
	fmt.Println(events.One("login").Value("password"))
	// Output:
	// [redacted]
}

func ExampleEvents_Named() {
	logger, events := logtest.New(t)
	save(logger, 42)
	save(logger, 43)
	for _, e := range events.Named("user saved") {
		fmt.Println(e.Value("user_id"))
	}
	// Output:
	// 42
	// 43
}
