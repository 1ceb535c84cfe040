package abandon_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirhq/weir/internal/abandon"
)

func TestCallEndsWithItsContext(t *testing.T) { synctest.Test(t, testCall) }

// testCall calls a function that returns before, and one that returns after the end of the context.
func testCall(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	failed := errors.New("failed")
	if err := abandon.Call(ctx, func() error { return failed }); err != failed {
		t.Errorf("got %v, want %v", err, failed)
	}
	began := time.Now()
	goOn := make(chan struct{})
	defer close(goOn)
	err := abandon.Call(ctx, func() error { <-goOn; return nil })
	if err != context.DeadlineExceeded || time.Since(began) != time.Second {
		t.Errorf("got %v after %v, want %v after 1s", err, time.Since(began), context.DeadlineExceeded)
	}
}
