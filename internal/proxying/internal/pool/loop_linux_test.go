package pool

import (
	"sync"
	"testing"

	"github.com/weirhq/weir/internal/transport"
)

// TestSharedDialOnLoopEndsWithItsContext is TestSharedDialEndsWithItsContext on a loop.
func TestSharedDialOnLoopEndsWithItsContext(t *testing.T) {
	t.Parallel()
	l, err := transport.NewLoop(1, func(v any, stack []byte) { t.Errorf("panic: %v\n%s", v, stack) })
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	running.Go(l.Run)
	defer running.Wait()
	defer l.Close()
	checkSharedDial(t, l, func(task transport.Task) { l.Post(func() { l.Go(task) }) })
}
