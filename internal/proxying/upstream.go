package proxying

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/weirhq/weir/internal/proxying/internal/balance"
	"github.com/weirhq/weir/internal/proxying/internal/budget"
	"github.com/weirhq/weir/internal/proxying/internal/waitqueue"
	"github.com/weirhq/weir/internal/stickycookie"
)

// An Upstream is a service that consists of one server, or of several
// equivalent ones. It is safe for concurrent use. The zero value has no server
// and responds to every request with 502.
type Upstream struct {
	name    string
	options Options
	budget  *budget.Budget   // of Options.Retry; nil before there are servers
	turn    atomic.Uint64    // of round robin
	waiting atomic.Int64     // exchanges that wait for a connection
	queue   *waitqueue.Queue // of Options.Limit; nil in the zero value
	set     atomic.Pointer[serverSet]

	mu     sync.Mutex       // guards the fields below, and is held while set changes
	kept   map[*Server]bool // servers that another upstream has adopted
	closed bool
	since  time.Time // when the upstream, or one before it, got its first servers
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

// NewUpstream returns an upstream. The name identifies it in errors and in the cookies of Sticky.
// It does not connect to its servers before the first request.
func NewUpstream(name string, options Options) (*Upstream, error) {
	if err := options.check(); err != nil {
		return nil, fmt.Errorf("upstream %s: %w", name, err)
	}
	u := &Upstream{name: name, options: options, queue: new(waitqueue.Queue)}
	if len(options.Servers) == 0 {
		return u, nil
	}
	if err := u.SetServers(options.Servers); err != nil {
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
		if err == nil && e.Weight < 0 {
			err = fmt.Errorf("server %q: its weight is %d, want at least 0", e.URL, e.Weight)
		}
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
		if u.options.Sticky != nil {
			m.cookie = u.options.Sticky.cookie(u.name, s)
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
// of u, with their state, and with their connections unless their protocol differs. u also gets the
// budget and the queue of the other upstream, if it has them. Adopt must be called before the first
// request to u. Closing the other upstream does not close these servers.
func (u *Upstream) Adopt(other *Upstream) {
	u.mu.Lock()
	defer u.mu.Unlock()
	other.mu.Lock()
	defer other.mu.Unlock()
	u.budget, u.queue = cmp.Or(other.budget, u.budget), cmp.Or(other.queue, u.queue)
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
		if !u.options.sameProtocol(&other.options) {
			same.linkBy(&u.options)
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
		s.conns.SetMax(u.options.Limit.Max)
	}
	u.set.Store(set)
}

// choice returns the settings of choices.
func (u *Upstream) choice() balance.Settings {
	o := &u.options
	return balance.Settings{Policy: balance.Policy(o.Balance), SlowStart: o.SlowStart, Max: o.Limit.Max}
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
	s.linkBy(&u.options)
	if c := u.options.Conns; c != nil {
		s.conns.Share(c.limit)
	}
	if prepare := u.options.Prepare; prepare != nil {
		prepare(s)
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

// Close closes the unused connections now, and the others after their
// exchanges. It leaves servers that another upstream has adopted.
func (u *Upstream) Close() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.closed = true
	u.closeOthers(u.now(), noServers)
}
