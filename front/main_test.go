package front_test

import (
	"flag"
	"net"
	"os"
	"runtime"
	"strconv"
	"testing"

	"go.uber.org/goleak"
)

// stoppableVariable makes the test binary run serveStoppable instead of the tests.
const stoppableVariable = "WEIR_TEST_STOPPABLE"

func TestMain(m *testing.M) {
	if os.Getenv(stoppableVariable) != "" {
		serveStoppable()
		return
	}
	// Most of the time of most tests is a wait.
	flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))) // before the flags of the command line
	// It ends up to 5s after the lock that it serves.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/caddyserver/certmagic.keepLockfileFresh"))
}

// listenLoopback returns a listener on a free port of the loopback interface.
func listenLoopback() net.Listener {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	return l
}
