package machine

import (
	"runtime"
	"sync"
)

var (
	processors sync.Mutex // guards changes of GOMAXPROCS, and leased
	leased     int        // by which LeaseProcessors has raised it
)

// LeaseProcessors raises runtime.GOMAXPROCS by n until giveBack is called, for n threads
// that keep their P while they are busy in the kernel or outside of the scheduler. Several
// callers may do so at the same time.
func LeaseProcessors(n int) (giveBack func()) {
	change := func(n int) {
		processors.Lock()
		defer processors.Unlock()
		leased += n
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + n)
	}
	change(n)
	return sync.OnceFunc(func() { change(-n) })
}

// Processors returns runtime.GOMAXPROCS without the leased ones: how many threads of Go the
// machine, or the limit of the process, has processors for. It is at least 1, also if someone has lowered GOMAXPROCS
// since the lease.
func Processors() int {
	processors.Lock()
	defer processors.Unlock()
	return max(runtime.GOMAXPROCS(0)-leased, 1)
}
