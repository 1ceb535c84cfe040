// Package waittest waits for conditions in tests, and in the processes that tests start.
package waittest

import (
	"fmt"
	"testing"
	"time"
)

// Limit is the time after which a wait fails. It is far beyond the duration of anything that a test waits for, because
// the machine may be busy with other tests.
const Limit = 3 * time.Minute

// Poll waits until holds returns true, or returns an error after Limit.
func Poll(what string, holds func() bool) error {
	for began := time.Now(); !holds(); time.Sleep(time.Millisecond) {
		if time.Since(began) > Limit {
			return fmt.Errorf("not within %v: %s", Limit, what)
		}
	}
	return nil
}

// Await is Poll for tests.
func Await(t testing.TB, what string, holds func() bool) {
	t.Helper()
	if err := Poll(what, holds); err != nil {
		t.Fatal(err)
	}
}
