package service

import (
	"sync"

	"golang.org/x/sys/unix"
)

// A brand is a limit of resources that the members of one family alone have, of
// all children of this process. nginx that makes itself a daemon leaves its
// session and writes its title over its environment, but whoever descends from
// a program has its limits, and nobody touches the one of POSIX message queues:
// it is lowered by a few bytes of 800 kB. Zero is no brand.
type brand uint64

// branding orders the changes of this process's own limit, which is what a
// program gets that is started meanwhile.
var branding struct {
	mu    sync.Mutex
	given uint64 // so that no two families have the same
}

// branded calls start with a new brand on this process, which what it starts
// keeps. Where there is no such limit, the mark in the environment has to do.
func branded(start func() error) (brand, error) {
	const different = 4096 // families at once; numbers begin again then
	branding.mu.Lock()
	defer branding.mu.Unlock()
	var own unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_MSGQUEUE, &own) != nil {
		return 0, start()
	}
	branding.given++
	most := min(own.Cur, 1<<40) - 1 - branding.given%different
	if own.Cur <= different || unix.Setrlimit(unix.RLIMIT_MSGQUEUE, &unix.Rlimit{Cur: most, Max: own.Max}) != nil {
		return 0, start()
	}
	defer unix.Setrlimit(unix.RLIMIT_MSGQUEUE, &own)
	return brand(most), start()
}

func (b brand) isOn(pid int) bool {
	if b == 0 {
		return false
	}
	var limit unix.Rlimit
	return unix.Prlimit(pid, unix.RLIMIT_MSGQUEUE, nil, &limit) == nil && limit.Cur == uint64(b)
}
