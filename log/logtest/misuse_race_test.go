//go:build race

package logtest_test

import (
	"strings"
	"testing"

	"github.com/weirhq/weir/log/logtest"
)

func TestCallsAfterSendFail(t *testing.T) {
	fake := new(fakeT)
	logger, _ := logtest.New(fake)
	e := logger.Info("event")
	e.Send()
	e.Int("rows", 3)
	if len(fake.failures) != 1 || !strings.Contains(fake.failures[0], "misuse_race_test.go:17") {
		t.Errorf("got %q, want one failure that names line 17", fake.failures)
	}
	fake.end()
	e.Int("rows", 3)
	if len(fake.failures) != 1 {
		t.Errorf("a failure after the end of the test: %q", fake.failures)
	}
}
