// Package names keeps the servers of an upstream up to date with the addresses of their host
// names.
package names

import (
	"context"
	"math/rand/v2"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/weirhq/weir/internal/proxying"
	"github.com/weirhq/weir/internal/resolve"
)

const (
	// SRV begins the URL of a server whose host is the name of SRV records, as in
	// srv+http://_http._tcp.example.com.
	SRV = "srv+"

	// DefaultMaxTTL is the longest time between two resolutions of a name, by default.
	DefaultMaxTTL = time.Minute

	// minTTL is the shortest time between two resolutions of a name.
	minTTL = time.Second
	// maxBackoff is the longest time until a resolution that has failed, or a part of it, is repeated.
	maxBackoff = 30 * time.Second
	// timeout limits one resolution.
	timeout = 15 * time.Second

	// MaxAddrs is the maximum number of servers of one name. The others are left out.
	MaxAddrs = 256
)

// IsName reports whether the server at a URL is resolved. An IP address and a Unix socket are
// not, nor is localhost: package net connects to an address of it that accepts connections.
func IsName(serverURL string) bool {
	if strings.HasPrefix(serverURL, SRV) {
		return true
	}
	u, err := url.Parse(serverURL)
	if err != nil || u.Hostname() == "" || u.Hostname() == "localhost" {
		return false
	}
	_, err = netip.ParseAddr(u.Hostname())
	return err != nil
}

// A Resolution is the result of resolving a name once.
type Resolution struct {
	URL     string // of the server, as configured
	Addrs   int    // servers that the name has now
	Added   []string
	Removed []string
	LeftOut int   // addresses beyond MaxAddrs
	Gone    bool  // the list of servers has the name no longer; the fields above but URL are zero
	Err     error // the servers are from an earlier answer, or some of them are
}

// A Watcher resolves the names in the servers of an upstream. Its methods may be called
// concurrently, except for Inherit.
type Watcher struct {
	// Resolver resolves the names. MaxTTL is the longest time between two resolutions.
	Resolver *resolve.Resolver
	MaxTTL   time.Duration

	// Apply replaces the servers of the upstream. Report, if not nil, gets each result. Both are
	// called by one goroutine at a time.
	Apply  func([]proxying.Endpoint)
	Report func(Resolution)

	watching sync.WaitGroup

	mu      sync.Mutex      // guards the fields below and the sources, and is held during Apply and Report
	ctx     context.Context // of Run; nil while it does not run
	sources []*source
}

// A source is an entry in the list of servers.
type source struct {
	endpoint proxying.Endpoint
	named    bool
	servers  []proxying.Endpoint // of the last good answer
	failures int                 // in a row
	cancel   context.CancelFunc
}

// SetSources sets the list of servers: as configured before the other methods are called, and
// later a changed list. A name that stays keeps its addresses.
func (w *Watcher) SetSources(endpoints []proxying.Endpoint) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := w.sources
	w.sources = make([]*source, len(endpoints))
	for i, e := range endpoints {
		if j := slices.IndexFunc(before, func(s *source) bool { return s.endpoint == e }); j >= 0 {
			w.sources[i] = before[j]
			continue
		}
		s := &source{endpoint: e, named: IsName(e.URL)}
		if !s.named {
			s.servers = []proxying.Endpoint{e}
		}
		s.inherit(before)
		w.sources[i] = s
		w.begin(s)
	}
	for _, s := range before {
		w.end(s)
	}
	if w.ctx != nil {
		w.Apply(w.endpoints())
	}
}

// end ends the work for a source that is none of the list any more. The caller holds mu.
func (w *Watcher) end(s *source) {
	if s.cancel == nil || slices.Contains(w.sources, s) {
		return
	}
	s.cancel()
	listed := slices.ContainsFunc(w.sources, func(other *source) bool { return other.endpoint.URL == s.endpoint.URL })
	if w.Report != nil && !listed {
		w.Report(Resolution{URL: s.endpoint.URL, Gone: true})
	}
}

// Inherit takes over the last good answers of the watcher of an earlier configuration, for the
// names that both have. The name servers may differ.
func (w *Watcher) Inherit(before *Watcher) {
	before.mu.Lock()
	defer before.mu.Unlock()
	for _, s := range w.sources {
		s.inherit(before.sources)
	}
}

// inherit takes over the last good answer of one of other sources, which has the same name.
func (s *source) inherit(before []*source) {
	i := slices.IndexFunc(before, func(b *source) bool { return b.endpoint.URL == s.endpoint.URL })
	if !s.named || i < 0 {
		return
	}
	for _, e := range before[i].servers {
		same := s.like(e)
		if strings.HasPrefix(s.endpoint.URL, SRV) {
			same.Weight, same.Backup = e.Weight, e.Backup || s.endpoint.Backup
		}
		s.servers = append(s.servers, same)
	}
}

// Endpoints returns the servers that are known now, and an unresolved one for each other name.
func (w *Watcher) Endpoints() []proxying.Endpoint {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.endpoints()
}

// endpoints is Endpoints with each server once. The caller holds mu.
func (w *Watcher) endpoints() (all []proxying.Endpoint) {
	type server struct{ url, addr string }
	seen := make(map[server]bool)
	for _, s := range w.sources {
		if len(s.servers) == 0 {
			unknown := s.endpoint
			unknown.URL, unknown.Unresolved = strings.TrimPrefix(unknown.URL, SRV), true
			all = append(all, unknown)
		}
		for _, e := range s.servers {
			if key := (server{e.URL, e.Addr}); !seen[key] {
				seen[key] = true
				all = append(all, e)
			}
		}
	}
	return all
}

// Run resolves the names until ctx is done.
func (w *Watcher) Run(ctx context.Context) {
	w.mu.Lock()
	w.ctx = ctx
	for _, s := range w.sources {
		w.begin(s)
	}
	w.mu.Unlock()
	<-ctx.Done()
	w.mu.Lock()
	w.ctx = nil
	w.mu.Unlock()
	w.watching.Wait()
}

// begin begins to resolve a source, if it is a name and the watcher runs. The caller holds mu.
func (w *Watcher) begin(s *source) {
	if !s.named || w.ctx == nil || w.ctx.Err() != nil {
		return
	}
	ctx, cancel := context.WithCancel(w.ctx)
	s.cancel = cancel
	w.watching.Go(func() {
		defer cancel()
		w.watch(ctx, s)
	})
}

// watch resolves one name until ctx is done.
func (w *Watcher) watch(ctx context.Context, s *source) {
	for {
		limited, cancel := context.WithTimeout(ctx, timeout)
		a, err := w.lookup(limited, s.endpoint)
		cancel()
		pause := w.note(ctx, s, a, err)
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// note applies a result, and returns the time until the next resolution. The source is none of
// the list any more if ctx is done.
func (w *Watcher) note(ctx context.Context, s *source, a answer, err error) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	if ctx.Err() != nil {
		return 0
	}
	r := Resolution{URL: s.endpoint.URL, Err: err}
	before := s.servers
	if err == nil {
		r.Err = a.incomplete
		s.servers, r.LeftOut = a.after(before)
	}
	r.Addrs, r.Added, r.Removed = len(s.servers), without(s.servers, before), without(before, s.servers)
	if !slices.Equal(s.servers, before) {
		w.Apply(w.endpoints())
	}
	if w.Report != nil {
		w.Report(r)
	}
	if err == nil {
		s.failures = 0
		pause := min(max(a.ttl, minTTL), w.MaxTTL)
		if a.incomplete != nil {
			pause = min(pause, maxBackoff)
		}
		return pause
	}
	s.failures++
	pause := min(max(a.ttl, minTTL<<min(s.failures-1, 10)), maxBackoff, w.MaxTTL)
	return pause*3/4 + rand.N(pause/4)
}

// like returns a server at another URL or address with the settings of the source.
func (s *source) like(e proxying.Endpoint) proxying.Endpoint {
	full := s.endpoint
	full.URL, full.Addr = e.URL, e.Addr
	return full
}

// without returns the addresses of a that b does not have.
func without(a, b []proxying.Endpoint) (addrs []string) {
	for _, e := range a {
		if !contains(b, e) {
			addrs = append(addrs, e.Addr)
		}
	}
	return addrs
}

func contains(list []proxying.Endpoint, e proxying.Endpoint) bool {
	return slices.ContainsFunc(list, func(other proxying.Endpoint) bool {
		return other.URL == e.URL && other.Addr == e.Addr
	})
}
