// Package sharing keeps the connections of a front door to the stores of shared limits, across
// reloads.
package sharing

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/weirhq/weir/internal/redisurl"
	"github.com/weirhq/weir/limit/lease"
)

// Stores has a Leaser for each store that is in use. Its methods may be called concurrently.
type Stores struct {
	// Open opens the store with a URL. Nil means that the program has no client.
	Open func(url string) (lease.Store, error)
	// Changed is called by a goroutine of its own for each store.
	Changed func(store string, c lease.Condition)

	mu      sync.Mutex // guards the fields below and the stores
	stores  []*store
	running bool
}

type store struct {
	url, fleet, name string
	store            lease.Store
	leaser           *lease.Leaser
	cancel           context.CancelFunc // nil before the start
	running          sync.WaitGroup
}

var errNoClient = errors.New("this program has no client for the store of shared limits")

// Use returns the Leaser for a store and a fleet. It opens the store if it is new, but does not
// connect.
func (s *Stores) Use(url, fleet string) (*lease.Leaser, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, st := range s.stores {
		if st.url == url && st.fleet == fleet {
			return st.leaser, nil
		}
	}
	if s.Open == nil {
		return nil, errNoClient
	}
	opened, err := s.Open(url)
	if err != nil {
		return nil, fmt.Errorf("shared limits: %w", err)
	}
	st := &store{url: url, fleet: fleet, name: Name(url), store: opened}
	st.leaser = lease.New(opened, lease.Options{Fleet: fleet, Changed: func(c lease.Condition) {
		s.Changed(st.name, c)
	}})
	s.stores = append(s.stores, st)
	if s.running {
		st.start()
	}
	return st.leaser, nil
}

// Name returns the servers of a URL, without the password.
func Name(url string) string {
	u, err := redisurl.Parse(url)
	if err != nil {
		_, rest, _ := strings.Cut(url, "@") // of another kind of store
		return rest
	}
	return u.Name()
}

// Start starts to exchange tokens.
func (s *Stores) Start() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running = true
	for _, st := range s.stores {
		st.start()
	}
}

func (st *store) start() {
	ctx, cancel := context.WithCancel(context.Background())
	st.cancel = cancel
	st.running.Go(func() { st.leaser.Run(ctx) })
}

// Keep closes the stores that are not in use any more. It waits until their tokens
// are returned.
func (s *Stores) Keep(urls []string, fleet string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stores = slices.DeleteFunc(s.stores, func(st *store) bool {
		if st.fleet == fleet && slices.Contains(urls, st.url) {
			return false
		}
		st.stop()
		return true
	})
}

// Stop returns the tokens and slots, and closes all stores.
func (s *Stores) Stop() { s.Keep(nil, "") }

func (st *store) stop() {
	if st.cancel != nil {
		st.cancel()
		st.running.Wait()
	}
	st.store.Close()
}

// Each calls f for each store with its name and counts.
func (s *Stores) Each(f func(name string, stats lease.Stats)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, st := range s.stores {
		f(st.name, st.leaser.Stats())
	}
}
