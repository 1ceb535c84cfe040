package machine

import (
	"runtime"
	"sync"
)

// processors guards changes of GOMAXPROCS.
var processors sync.Mutex

// LeaseProcessors raises runtime.GOMAXPROCS by n until giveBack is called, for n threads
// that keep their P while they are busy in the kernel or outside of the scheduler. Several
// callers may do so at the same time.
func LeaseProcessors(n int) (giveBack func()) {
	change := func(n int) {
		processors.Lock()
		defer processors.Unlock()
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + n)
	}
	change(n)
	return sync.OnceFunc(func() { change(-n) })
}
