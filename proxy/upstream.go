package proxy

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/weirhq/weir/internal/http1"
	"github.com/weirhq/weir/internal/stickycookie"
	"github.com/weirhq/weir/proxy/internal/balance"
	"github.com/weirhq/weir/proxy/internal/budget"
	"github.com/weirhq/weir/proxy/internal/waitqueue"
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

	// Retry determines when a request is sent again. It must be set before the first request.
	Retry Retry

	// Balance is the policy by which exchanges choose a server. HashKey belongs to Hash. They
	// must be set before the first request.
	Balance Policy
	HashKey HashKey

	// Sticky, if not nil, keeps clients at their servers. It must be set before the servers.
	Sticky *Sticky

	// SlowStart is the time in which the share of a server grows from nothing to its weight after
	// the server was added, or can be used again. The first servers of an upstream have no slow
	// start. 0 means none. It must be set before the servers.
	SlowStart time.Duration

	// Limit limits the exchanges at each server. It must be set before the servers.
	Limit ServerLimit

	name    string
	budget  *budget.Budget   // of Retry; nil before there are servers
	turn    atomic.Uint64    // of round robin
	waiting atomic.Int64     // exchanges that wait for a connection
	queue   *waitqueue.Queue // of Limit; nil without servers
	set     atomic.Pointer[serverSet]

	mu       sync.Mutex // guards the fields below, and is held while set changes
	shared   *Conns
	protocol Protocol // is not changed after the first request
	prepare  func(*Server)
	kept     map[*Server]bool // servers that another upstream has adopted
	closed   bool
	since    time.Time // when the upstream, or one before it, got its first servers
}

// A serverSet is the servers of an upstream at one time. It does not change.
type serverSet struct {
	members []member  // in the order of the endpoints
	servers []*Server // the same
	base    string    // the path of their URLs
	choice  *balance.Set
}

// A member is a server with the settings that it has in one upstream.
type member struct {
	*Server
	weight int
	backup bool
	cookie stickycookie.Cookie // of Sticky
}

var noServers = &serverSet{choice: new(balance.Set)}

// newSet returns a set of members. base is the path of their URLs.
func (u *Upstream) newSet(members []member, base string) *serverSet {
	set := &serverSet{members: members, base: base}
	choice := make([]balance.Member, len(members))
	for i, m := range members {
		set.servers = append(set.servers, m.Server)
		choice[i] = balance.Member{Server: &m.state, ID: m.id, Weight: int64(m.weight), Backup: m.backup}
	}
	set.choice = balance.NewSet(choice, &u.turn)
	return set
}

// NewUpstream returns an upstream of the servers at the given URLs, which are those of an
// [Endpoint]. It does not connect to them before the first request. Without a URL,
// [Upstream.SetServers] must set the servers.
func NewUpstream(name string, urls ...string) (*Upstream, error) {
	u := &Upstream{name: name, queue: new(waitqueue.Queue)}
	if len(urls) == 0 {
		return u, nil
	}
	endpoints := make([]Endpoint, len(urls))
	for i, url := range urls {
		endpoints[i].URL = url
	}
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
	var members []member
	base := ""
	var added []*Server
	for i, e := range endpoints {
		s, itsBase, err := newServer(e)
		if err != nil {
			return fmt.Errorf("upstream %s: %w", u.name, err)
		}
		if i > 0 && itsBase != base {
			return fmt.Errorf("upstream %s: server %q: its path must be that of the other servers", u.name, e.URL)
		}
		base = itsBase
		if e.Unresolved {
			continue
		}
		s.id = xxhash.Sum64String(s.url + " " + s.Addr())
		if same := now.find(s); same != nil {
			s = same
		} else {
			added = append(added, s)
		}
		m := member{Server: s, weight: cmp.Or(e.Weight, 1), backup: e.Backup}
		if u.Sticky != nil {
			m.cookie = u.Sticky.cookie(u.name, s)
		}
		members = append(members, m)
	}
	if u.since.IsZero() && len(members) > 0 {
		u.since = time.Now()
	}
	for _, s := range added {
		u.open(s)
		u.noteAdded(s)
	}
	if u.budget == nil {
		u.budget = new(budget.Budget)
	}
	next := u.newSet(members, base)
	u.use(next)
	u.closeOthers(now, next)
	return nil
}

// Adopt takes over the servers of another upstream that have the same URL and Addr as a server
// of u, with their state, and with their connections unless their protocol differs. u gets the budget
// of the other upstream, too. Adopt must be called
// before the first request to u. Closing the other upstream does not close these servers.
func (u *Upstream) Adopt(other *Upstream) {
	u.mu.Lock()
	defer u.mu.Unlock()
	other.mu.Lock()
	defer other.mu.Unlock()
	u.budget, u.queue = other.budget, other.queue
	if !other.since.IsZero() {
		u.since = other.since
	}
	now := u.now()
	members := slices.Clone(now.members)
	for i, s := range now.servers {
		same := other.now().find(s)
		if same == nil {
			u.noteAdded(s)
		}
		if same == nil || other.closed {
			continue
		}
		if other.kept == nil {
			other.kept = make(map[*Server]bool)
		}
		other.kept[same] = true
		if !u.protocol.equal(&other.protocol) {
			same.linkBy(&u.protocol)
		}
		members[i].Server = same
	}
	next := u.newSet(members, now.base)
	u.use(next)
	u.closeOthers(now, next)
}

// firstFor is the time for which added servers are among the first ones of an upstream: their
// names may take that long to be resolved.
const firstFor = 5 * time.Second

// noteAdded begins the slow start of a new server, unless it is one of the first. The caller holds
// mu.
func (u *Upstream) noteAdded(s *Server) {
	if now := time.Now(); now.Sub(u.since) > firstFor {
		s.state.BeginSlowStart(now)
	}
}

// now returns the servers in use.
func (u *Upstream) now() *serverSet {
	if set := u.set.Load(); set != nil {
		return set
	}
	return noServers
}

// use applies a set of servers. The caller holds mu.
func (u *Upstream) use(set *serverSet) {
	for _, s := range set.servers {
		s.conns.SetMax(u.Limit.Max)
	}
	u.set.Store(set)
}

// choice returns the settings of choices.
func (u *Upstream) choice() balance.Settings {
	return balance.Settings{Policy: balance.Policy(u.Balance), SlowStart: u.SlowStart, Max: u.Limit.Max}
}

// Queued returns the number of exchanges that wait for a free place at a server now, and that of
// all that have waited. The second includes those of the upstream that u has adopted.
func (u *Upstream) Queued() (now int, total uint64) {
	if u.queue == nil {
		return 0, 0
	}
	return u.queue.Waiting(), u.queue.Total()
}

// find returns the server with the same endpoint, or nil.
func (set *serverSet) find(s *Server) *Server {
	i := slices.IndexFunc(set.servers, func(other *Server) bool { return other.url == s.url && other.Addr() == s.Addr() })
	if i < 0 {
		return nil
	}
	return set.servers[i]
}

// open prepares a new server. The caller holds mu.
func (u *Upstream) open(s *Server) {
	s.linkBy(&u.protocol)
	if u.shared != nil {
		s.conns.Share(u.shared.limit)
	}
	if u.prepare != nil {
		u.prepare(s)
	}
}

// closeOthers closes the servers that are in before but not in next. The caller holds mu.
func (u *Upstream) closeOthers(before, next *serverSet) {
	for _, s := range before.servers {
		if !u.kept[s] && !slices.Contains(next.servers, s) {
			s.conns.Close()
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
		s.conns.Share(c.limit)
	}
}

// SetProtocol sets how connections are made. It must be called at most once, before Adopt and
// the first request.
func (u *Upstream) SetProtocol(p Protocol) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.protocol = p
	for _, s := range u.now().servers {
		s.linkBy(&u.protocol)
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
