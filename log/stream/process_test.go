package stream_test

import (
	"os"
	"testing"

	"github.com/weirhq/weir/log/internal/processtest"
)

// processes are killed, or have limits of their own.
var processes = processtest.Processes{}

func TestMain(m *testing.M) {
	processes.Run()
	os.Exit(m.Run())
}
