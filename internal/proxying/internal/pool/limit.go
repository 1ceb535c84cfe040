package pool

import (
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
)

// A Limit limits the number of open connections of several pools together, including unused ones.
// At the limit, an exchange that needs a connection closes an unused one of any pool, or gets
// [ErrTooMany]. It is safe for concurrent use.
type Limit struct {
	freed atomic.Uint64 // counts connections that became unused or were closed

	mu    sync.Mutex // guards the following fields
	max   int
	open  int
	pools map[*driverPools]struct{} // of all servers
}

// NewLimit returns a limit of max connections.
func NewLimit(max int) *Limit {
	return &Limit{max: max, pools: make(map[*driverPools]struct{})}
}

// Stats returns the number of open connections and its limit.
func (l *Limit) Stats() (open, max int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open, l.max
}

// SetMax changes the limit. Connections beyond it stay open until they are closed.
func (l *Limit) SetMax(max int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.max = max
}

// ErrTooMany is the error of a connection beyond a [Limit].
var ErrTooMany = errors.New("all connections to servers are in use")

// NoFile reports whether err is due to the limit of open files, of the process
// or of the machine.
func NoFile(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// add adds the pools of a server, from which unused connections are closed.
func (l *Limit) add(p *driverPools) {
	l.mu.Lock()
	l.pools[p] = struct{}{}
	l.mu.Unlock()
}

// enter counts a connection that is about to be made. At the limit it closes an
// unused one. It searches again if connections were closed or became unused
// during the search, because another exchange may have been faster. If there
// were none, all connections are in use. l is nil without a limit.
func (l *Limit) enter() error {
	if l == nil {
		return nil
	}
	for {
		before := l.freed.Load()
		if l.count() {
			return nil
		}
		if !l.CloseUnused() && l.freed.Load() == before {
			return ErrTooMany
		}
	}
}

// count counts one more connection unless the limit is reached.
func (l *Limit) count() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open >= l.max {
		return false
	}
	l.open++
	return true
}

// noteUnused must be called after a connection became unused.
func (l *Limit) noteUnused() {
	if l != nil {
		l.freed.Add(1)
	}
}

// CloseUnused closes an unused connection to free its file. It reports whether
// there was one.
func (l *Limit) CloseUnused() bool {
	if l == nil {
		return false
	}
	l.mu.Lock()
	all := slices.Collect(maps.Keys(l.pools))
	l.mu.Unlock()
	for _, p := range all {
		if p.closeOldest() {
			return true
		}
	}
	return false
}

// leave counts a connection that was closed or could not be made.
func (l *Limit) leave() {
	if l == nil {
		return
	}
	l.mu.Lock()
	l.open--
	l.mu.Unlock()
	l.freed.Add(1)
}

// forget removes the pools of a server that keeps no unused connections any more.
func (l *Limit) forget(p *driverPools) {
	if l == nil {
		return
	}
	l.mu.Lock()
	delete(l.pools, p)
	l.mu.Unlock()
}
