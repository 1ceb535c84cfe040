package load

import (
	"runtime"
	"sync"
)

// processors orders changes of how many Ps the process has.
var processors sync.Mutex

// leaseProcessors adds n Ps to the process, until the function that it returns
// is called. Several runs may have some at once.
func leaseProcessors(n int) (giveBack func()) {
	change := func(n int) {
		processors.Lock()
		defer processors.Unlock()
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + n)
	}
	change(n)
	return sync.OnceFunc(func() { change(-n) })
}
