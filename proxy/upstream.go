package proxy

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weirhq/weir/internal/http1"
)

// DefaultMaxFields limits the fields of a response if its Upstream sets no
// other limit.
const DefaultMaxFields = http1.DefaultMaxFields

// An Upstream is a service that consists of one server, or of several
// equivalent ones. It is safe for concurrent use. The zero value has no server
// and responds to every request with 502.
type Upstream struct {
	// ConnectRetry limits the time in which an exchange retries to connect if
	// no server accepts a connection. The pauses between the attempts grow.
	// Nothing was sent yet, so this is safe with any method. 0 means no retry.
	// It must be set before the first request.
	ConnectRetry time.Duration

	// MaxFields limits the fields in the head of a response, and those in its
	// trailers. A response with more is malformed. 0 means DefaultMaxFields. It
	// must be set before the first request.
	MaxFields int

	// ProxyProtocol is the version of the PROXY protocol, 1 or 2, by which the servers get the
	// address of the client. 0 sends no header. Each exchange then has a connection of its own.
	// It must be set before the first request.
	ProxyProtocol int

	name    string
	turn    atomic.Uint64
	waiting atomic.Int64 // exchanges that wait for a connection
	set     atomic.Pointer[serverSet]

	mu      sync.Mutex // guards the fields below, and is held while set changes
	shared  *Conns
	prepare func(*Server)
	kept    map[*Server]bool // servers that another upstream has adopted
	closed  bool
}

// A serverSet is the servers of an upstream at one time. It is immutable.
type serverSet struct {
	servers []*Server // in the order of the endpoints
	base    string    // the path of their URLs
}

var noServers = new(serverSet)

// NewUpstream returns an upstream of the servers at the given URLs, which are those of an
// [Endpoint]. It does not connect to them before the first request.
func NewUpstream(name string, urls ...string) (*Upstream, error) {
	endpoints := make([]Endpoint, len(urls))
	for i, u := range urls {
		endpoints[i].URL = u
	}
	u := &Upstream{name: name}
	if err := u.SetServers(endpoints); err != nil {
		return nil, err
	}
	return u, nil
}

// SetServers replaces the servers. A server with the same URL and Addr as before keeps its
// connections and its state. Exchanges that use one of the others continue. After an error,
// nothing has changed.
func (u *Upstream) SetServers(endpoints []Endpoint) error {
	if len(endpoints) == 0 {
		return fmt.Errorf("upstream %s has no server", u.name)
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	now := u.now()
	next := new(serverSet)
	var added []*Server
	for i, e := range endpoints {
		s, base, err := newServer(e)
		if err != nil {
			return fmt.Errorf("upstream %s: %w", u.name, err)
		}
		if i > 0 && base != next.base {
			return fmt.Errorf("upstream %s: server %q: its path must be that of the other servers", u.name, e.URL)
		}
		next.base = base
		if same := now.find(s); same != nil {
			s = same
		} else {
			added = append(added, s)
		}
		next.servers = append(next.servers, s)
	}
	for _, s := range added {
		u.open(s)
	}
	u.set.Store(next)
	u.closeOthers(now, next)
	return nil
}

// Adopt takes over the servers of another upstream that have the same URL and Addr as a server
// of u, with their connections and their state. It must be called before the first request to
// u. Closing the other upstream does not close these servers.
func (u *Upstream) Adopt(other *Upstream) {
	u.mu.Lock()
	defer u.mu.Unlock()
	other.mu.Lock()
	defer other.mu.Unlock()
	now := u.now()
	next := &serverSet{base: now.base}
	for _, s := range now.servers {
		if same := other.now().find(s); same != nil && !other.closed {
			if other.kept == nil {
				other.kept = make(map[*Server]bool)
			}
			other.kept[same] = true
			s = same
		}
		next.servers = append(next.servers, s)
	}
	u.set.Store(next)
	u.closeOthers(now, next)
}

// now returns the servers in use.
func (u *Upstream) now() *serverSet {
	if set := u.set.Load(); set != nil {
		return set
	}
	return noServers
}

// find returns the server with the same endpoint, or nil.
func (set *serverSet) find(s *Server) *Server {
	i := slices.IndexFunc(set.servers, func(other *Server) bool { return other.url == s.url && other.addr == s.addr })
	if i < 0 {
		return nil
	}
	return set.servers[i]
}

// open prepares a new server. The caller holds mu.
func (u *Upstream) open(s *Server) {
	if u.shared != nil {
		s.share(u.shared)
	}
	if u.prepare != nil {
		u.prepare(s)
	}
}

// closeOthers closes the servers that are in before but not in next. The caller holds mu.
func (u *Upstream) closeOthers(before, next *serverSet) {
	for _, s := range before.servers {
		if !u.kept[s] && !slices.Contains(next.servers, s) {
			s.close()
		}
	}
}

// Name returns the name given to NewUpstream.
func (u *Upstream) Name() string { return u.name }

// Servers returns the servers in use. The caller must not change the slice.
func (u *Upstream) Servers() []*Server { return u.now().servers }

// Share counts the connections of u in c. It must be called once, before the
// first request.
func (u *Upstream) Share(c *Conns) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.shared = c
	for _, s := range u.now().servers {
		s.share(c)
	}
}

// Prepare calls f for each server before its first exchange, so that f can set its Context. It
// must be called once, before the first request.
func (u *Upstream) Prepare(f func(*Server)) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.prepare = f
	for _, s := range u.now().servers {
		f(s)
	}
}

// Close closes the unused connections now, and the others after their
// exchanges. It leaves servers that another upstream has adopted.
func (u *Upstream) Close() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.closed = true
	u.closeOthers(u.now(), noServers)
}
