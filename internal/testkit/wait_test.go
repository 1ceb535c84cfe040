package testkit_test

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/weirhq/weir/internal/testkit"
)

// A failing test keeps the message with which it fails.
type failing struct {
	testing.TB
	message string
}

func (f *failing) Helper() {}

func (f *failing) Fatalf(format string, args ...any) {
	f.message = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// TestFailedWaitsReportLastState checks the messages of waits for what never happens.
func TestFailedWaitsReportLastState(t *testing.T) {
	for want, wait := range map[string]func(testing.TB){
		"not within 3m0s: the end": func(t testing.TB) {
			testkit.Await(t, "the end", func() bool { return false })
		},
		"not within 3m0s: requests: got 2, want 3": func(t testing.TB) {
			testkit.AwaitEqual(t, "requests", func() int { return 2 }, 3)
		},
		"not within 3m0s: the start: refused": func(t testing.TB) {
			testkit.AwaitNil(t, "the start", func() error { return errors.New("refused") })
		},
		"not within 3m0s: a value": func(t testing.TB) { testkit.Receive(t, "a value", make(chan int)) },
	} {
		synctest.Test(t, func(t *testing.T) {
			f := &failing{TB: t}
			var waiting sync.WaitGroup
			waiting.Go(func() { wait(f) })
			waiting.Wait()
			if f.message != want {
				t.Errorf("%q, want %q", f.message, want)
			}
		})
	}
}

// TestWaitsEndWithTheirCondition checks that a wait calls its function until that returns what is awaited.
func TestWaitsEndWithTheirCondition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int64
		testkit.AwaitEqual(t, "calls", func() int64 { return calls.Add(1) }, 1000)
		if n := calls.Load(); n != 1000 {
			t.Errorf("%d calls, want 1000", n)
		}
	})
}
