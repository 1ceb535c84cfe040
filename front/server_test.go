package front_test

import (
	"errors"
	"net"
	"syscall"
	"testing"
)

// TestListenerFailureEndsServe closes the listener of a running front door. Serve returns
// the reason, and logs it.
func TestListenerFailureEndsServe(t *testing.T) {
	t.Parallel()
	d := openDoor(t, upstream(t, hello).URL)
	get(t, httpClient(t), d.url("/before"))
	d.FailListener()
	err := d.awaitServe()
	if !errors.Is(err, net.ErrClosed) && !errors.Is(err, syscall.EINVAL) {
		t.Errorf("Serve: %v, want an error of the listener", err)
	}
	d.served <- nil // for the end of the test
	e := d.log.find(t, func(e event) bool { return e.Event == "front door failed" })
	if e.Severity != 0 {
		t.Errorf("severity %d, want 0: %s", e.Severity, e.raw)
	}
}
