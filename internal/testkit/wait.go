// Package testkit has what the tests of many packages share: waits, HTTP exchanges, connections, files and numbers of
// the process. A helper that needs more than the standard library, or one subject of Weir, has a package of its own,
// such as certtest.
package testkit

import (
	"fmt"
	"net"
	"testing"
	"time"
)

// Limit is the time after which a wait fails the test. It is far beyond the duration of anything that a test waits for,
// because the machine may be busy with other tests.
const Limit = 3 * time.Minute

// Await waits until holds returns true.
func Await(t testing.TB, what string, holds func() bool) {
	t.Helper()
	poll(t, what, func() (string, bool) { return "", holds() })
}

// AwaitEqual waits until get returns want. The error of the test has the last value.
func AwaitEqual[T comparable](t testing.TB, what string, get func() T, want T) {
	t.Helper()
	poll(t, what, func() (string, bool) {
		got := get()
		return fmt.Sprintf(": got %v, want %v", got, want), got == want
	})
}

// AwaitNil waits until ready returns nil. The error of the test has the last error.
func AwaitNil(t testing.TB, what string, ready func() error) {
	t.Helper()
	poll(t, what, func() (string, bool) {
		err := ready()
		return fmt.Sprint(": ", err), err == nil
	})
}

// poll waits until look reports that what is awaited has happened. The pauses grow with the time, because look may be as
// costly as a scrape of the metrics.
func poll(t testing.TB, what string, look func() (state string, done bool)) {
	t.Helper()
	for began := time.Now(); ; {
		state, done := look()
		if done {
			return
		}
		waited := time.Since(began)
		if waited > Limit {
			t.Fatalf("not within %v: %s%s", Limit, what, state)
		}
		time.Sleep(max(time.Millisecond, min(waited/20, 100*time.Millisecond)))
	}
}

// Receive waits for a value from a channel, or for its end.
func Receive[T any](t testing.TB, what string, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(Limit):
		t.Fatalf("not within %v: %s", Limit, what)
		panic("not reached")
	}
}

// AwaitListener waits until an address accepts connections.
func AwaitListener(t testing.TB, address string) {
	t.Helper()
	AwaitNil(t, "a listener at "+address, func() error { return connect(address) })
}

// AwaitNoListener waits until an address refuses connections.
func AwaitNoListener(t testing.TB, address string) {
	t.Helper()
	Await(t, "the end of the listener at "+address, func() bool { return connect(address) != nil })
}

func connect(address string) error {
	c, err := net.Dial("tcp", address)
	if err == nil {
		c.Close()
	}
	return err
}
