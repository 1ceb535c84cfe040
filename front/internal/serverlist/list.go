// Package serverlist follows lists of servers that change while the front door runs.
package serverlist

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/weirhq/weir/internal/proxying"
)

// A Change is the result of reading a list.
type Change struct {
	Servers        int      // of the upstream now
	Added, Removed []string // URLs
	Err            error    // why the servers stay
}

// A List is a list of servers that is followed. Its methods may be called concurrently.
type List struct {
	// Watch calls changed with the text of the list, at the start and after each change, or with
	// the reason why it cannot be read, until ctx is done. It calls changed from one goroutine.
	Watch func(ctx context.Context, changed func(text []byte, err error))

	// Parse returns the servers in a text: at least one.
	Parse func(text []byte) ([]proxying.Endpoint, error)

	// Apply replaces the servers, and Report gets the results, apart from results that
	// change nothing.
	Apply  func([]proxying.Endpoint)
	Report func(Change)

	mu      sync.Mutex // guards the fields below
	servers []proxying.Endpoint
	err     error
	applied time.Time // the last change of the servers; zero before
	failed  time.Time // the last change of err that is not nil
}

// SetServers sets the servers that are known before Follow, and why there are no newer ones, or nil.
func (l *List) SetServers(servers []proxying.Endpoint, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.servers, l.err = servers, err
}

// Servers returns the servers in use, and the reason why there are no newer ones, or nil.
func (l *List) Servers() ([]proxying.Endpoint, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.servers, l.err
}

// Times returns when Follow has changed the servers, and when it has found a mistake in the list or
// could not read it, each the last time. The zero time is never.
func (l *List) Times() (applied, failed time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.applied, l.failed
}

// note notes the time of a result.
func (l *List) note(at *time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	*at = time.Now()
}

// Follow applies the changes of the list until ctx is done.
func (l *List) Follow(ctx context.Context) { l.Watch(ctx, l.changed) }

// changed applies a text, or notes that there is none.
func (l *List) changed(text []byte, err error) {
	before, failed := l.Servers()
	now := before
	if err == nil {
		now, err = l.Parse(text)
	}
	if err != nil {
		l.SetServers(before, err)
		l.note(&l.failed)
		l.Report(Change{Servers: len(before), Err: err})
		return
	}
	l.SetServers(now, nil)
	same := slices.Equal(now, before)
	if !same {
		l.note(&l.applied)
		l.Apply(now)
	}
	if !same || failed != nil {
		l.Report(Change{Servers: len(now), Added: without(now, before), Removed: without(before, now)})
	}
}

// without returns the URLs of a that b does not have.
func without(a, b []proxying.Endpoint) (urls []string) {
	for _, e := range a {
		if !slices.ContainsFunc(b, func(other proxying.Endpoint) bool { return other.URL == e.URL }) {
			urls = append(urls, e.URL)
		}
	}
	return urls
}
