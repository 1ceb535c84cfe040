package load

import (
	"runtime"
	"sync"
)

// processors are the Ps that runs have added to the process.
var processors struct {
	mu     sync.Mutex // guards what follows
	leased int
}

// leaseProcessors adds n Ps to the process, until the function that it returns
// is called. Several runs may have some at once.
func leaseProcessors(n int) (giveBack func()) {
	change := func(n int) {
		processors.mu.Lock()
		defer processors.mu.Unlock()
		processors.leased += n
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + n)
	}
	change(n)
	return sync.OnceFunc(func() { change(-n) })
}
