// Package health decides which servers of an upstream are healthy: by requests of its own, and by
// the outcomes of the requests that are forwarded to them.
package health

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/weirhq/weir/internal/proxying"
)

// Panic is the state of an upstream whose servers are all unhealthy or ejected. All of them are
// used then.
const Panic proxying.State = "panic"

// A Change is a change of the state of a server, or of the upstream if Server is nil.
type Change struct {
	Server   *proxying.Server
	From, To proxying.State // proxying.Usable, Unhealthy or Ejected; Panic of an upstream
	Reason   string
}

// The results of checks.
const (
	Passed  = "passed"
	Failed  = "failed"
	NotSent = "not_sent" // for lack of resources in this process
)

// The results of detections of outliers.
const (
	Ejected = "ejected"
	Kept    = "kept" // otherwise more than half of the servers would not be used
)

// A Monitor decides about the servers of one upstream, while Run runs.
type Monitor struct {
	Upstream *proxying.Upstream
	Check    *Check    // nil for none
	Outliers *Outliers // nil for none

	// StateOf returns the state of a server, which is always the same for one server.
	StateOf func(*proxying.Server) *State

	// Changed, Checked and Detected report changes, results of checks, and outliers. They must
	// not block, and several goroutines may call them, Changed only one at a time.
	Changed  func(Change)
	Checked  func(result string)
	Detected func(by, result string)

	checks   sync.WaitGroup
	mu       sync.Mutex // guards the fields below, and is held while a state changes
	checking map[*proxying.Server]context.CancelFunc
	panic    bool
	running  bool
	alarm    chan *proxying.Server // have failed Outliers.Consecutive times in a row
}

// tick is the interval at which ejected servers return.
const tick = 250 * time.Millisecond

// Run decides until ctx is done. When it returns, no check is in flight.
func (m *Monitor) Run(ctx context.Context) {
	m.mu.Lock()
	m.checking, m.alarm = make(map[*proxying.Server]context.CancelFunc), make(chan *proxying.Server, 64)
	m.running = true
	m.mu.Unlock()
	defer m.finish()
	m.Sync(ctx)
	if m.Outliers == nil {
		<-ctx.Done()
		return
	}
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	compared := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case s := <-m.alarm:
			m.ejectFailed(s)
		case now := <-ticker.C:
			m.release(now)
			if now.Sub(compared) >= m.Outliers.Interval {
				compared = now
				m.compare(now)
			}
		}
	}
}

// finish waits for the checks. None begins afterwards.
func (m *Monitor) finish() {
	m.mu.Lock()
	m.running = false
	m.mu.Unlock()
	m.checks.Wait()
}

// Sync begins to check servers that were added to the upstream, and ends the checks of servers
// that were removed. Call it after each change of the servers, with the ctx of Run. It does
// nothing while Run does not run.
func (m *Monitor) Sync(ctx context.Context) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.running {
		return
	}
	servers := m.Upstream.Servers()
	for s, cancel := range m.checking {
		if !slices.Contains(servers, s) {
			cancel()
			delete(m.checking, s)
		}
	}
	for _, s := range servers {
		m.begin(ctx, s)
	}
	m.notePanic()
}

// begin begins to decide about a server. The caller holds mu.
func (m *Monitor) begin(ctx context.Context, s *proxying.Server) {
	if m.checking[s] != nil {
		return
	}
	st := m.StateOf(s)
	ctx, cancel := context.WithCancel(ctx)
	m.checking[s] = cancel
	if m.Check == nil {
		m.change(s, st, st.forgetChecks, "health is not configured any more")
	} else {
		m.checks.Go(func() { m.probe(ctx, s, st) })
	}
	if m.Outliers == nil {
		s.Observe(nil)
		m.change(s, st, func() { st.ejected, st.ejections = time.Time{}, 0 }, "outliers is not configured any more")
		return
	}
	o := m.Outliers
	s.Observe(func(a proxying.Attempt) {
		if st.counts.note(o, a) {
			select {
			case m.alarm <- s:
			default: // the next failure repeats it
			}
		}
	})
}

// change changes the state of a server, and reports it if it is another one afterwards. The
// caller holds mu.
func (m *Monitor) change(s *proxying.Server, st *State, f func(), reason string) {
	st.mu.Lock()
	before := st.name()
	f()
	after := st.name()
	s.SetUnhealthy(st.unhealthy)
	s.Eject(st.ejected)
	st.mu.Unlock()
	if after != before {
		m.Changed(Change{Server: s, From: before, To: after, Reason: reason})
	}
}

// notePanic reports whether all servers have become unhealthy or ejected, or not any more. The
// caller holds mu.
func (m *Monitor) notePanic() {
	usable, all := m.count()
	if now := usable == 0 && all > 0; now != m.panic {
		m.panic = now
		c := Change{From: Panic, To: proxying.Usable, Reason: fmt.Sprintf("servers that can be used: %d of %d", usable, all)}
		if now {
			c = Change{From: proxying.Usable, To: Panic, Reason: "all servers are unhealthy or ejected: all are used"}
		}
		m.Changed(c)
	}
}

// count returns how many servers are neither unhealthy nor ejected, and how many there are.
func (m *Monitor) count() (usable, all int) {
	servers := m.Upstream.Servers()
	for _, s := range servers {
		st := m.StateOf(s)
		st.mu.Lock()
		if st.name() == proxying.Usable {
			usable++
		}
		st.mu.Unlock()
	}
	return usable, len(servers)
}

// firstCheck is the time in which a server is checked for the first time.
const firstCheck = time.Second

// jitter is the part of an interval by which a pause between two checks differs from it, at most.
// Without it, front doors that were started together would check together.
const jitter = 0.1

// probe checks a server until ctx is done, once at a time.
func (m *Monitor) probe(ctx context.Context, s *proxying.Server, st *State) {
	st.mu.Lock()
	pause := rand.N(min(m.Check.Interval, firstCheck))
	if st.checked {
		pause = rand.N(m.Check.Interval)
	}
	st.mu.Unlock()
	timer := time.NewTimer(pause)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		began := time.Now()
		result := m.Check.do(ctx, m.Upstream, s)
		if ctx.Err() != nil {
			return
		}
		m.noteCheck(s, st, result)
		pause := time.Duration(float64(m.Check.Interval) * (1 + jitter*(2*rand.Float64()-1)))
		timer.Reset(max(0, pause-time.Since(began)))
	}
}

// noteCheck handles the result of a check.
func (m *Monitor) noteCheck(s *proxying.Server, st *State, result error) {
	if errors.Is(result, errOurs) {
		m.Checked(NotSent)
		return
	}
	reason := fmt.Sprintf("%d checks have passed", m.Check.Rise)
	if result == nil {
		m.Checked(Passed)
	} else {
		m.Checked(Failed)
		reason = result.Error()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.change(s, st, func() { st.note(m.Check, result) }, reason)
	m.notePanic()
}

// ejectFailed ejects a server that has failed often in a row.
func (m *Monitor) ejectFailed(s *proxying.Server) {
	m.mu.Lock()
	defer m.mu.Unlock()
	st := m.StateOf(s)
	n := st.counts.consecutive.Load()
	if int(n) < m.Outliers.Consecutive || !slices.Contains(m.Upstream.Servers(), s) {
		return // it has succeeded since, or was ejected
	}
	m.eject(s, st, time.Now(), ByConsecutive, fmt.Sprintf("%d requests in a row failed", n))
	m.notePanic()
}

// eject ejects a server, unless it is ejected or fewer than half of the servers would be left. The
// caller holds mu.
func (m *Monitor) eject(s *proxying.Server, st *State, now time.Time, by, reason string) {
	o := m.Outliers
	st.counts.consecutive.Store(0)
	st.mu.Lock()
	until, unhealthy := st.ejected, st.unhealthy
	st.mu.Unlock()
	if now.Before(until) {
		return
	}
	if !until.IsZero() {
		m.end(s, st, until, over)
	}
	usable, all := m.count()
	if !unhealthy {
		usable--
	}
	if all-usable > all/2 {
		m.Detected(by, Kept)
		return
	}
	m.Detected(by, Ejected)
	m.change(s, st, func() {
		st.ejections++
		st.ejected = now.Add(min(o.Ejection*time.Duration(st.ejections), o.MaxEjection))
	}, reason)
}

// release ends the ejections that are over, and those beyond half of the servers, because others
// have become unhealthy or were removed.
func (m *Monitor) release(now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	type ejected struct {
		*proxying.Server
		st    *State
		until time.Time
	}
	var all []ejected
	for _, s := range m.Upstream.Servers() {
		st := m.StateOf(s)
		st.mu.Lock()
		if !st.ejected.IsZero() {
			all = append(all, ejected{s, st, st.ejected})
		}
		st.mu.Unlock()
	}
	if all == nil {
		return
	}
	slices.SortFunc(all, func(a, b ejected) int { return a.until.Compare(b.until) })
	for _, e := range all {
		reason := over
		if usable, n := m.count(); now.Before(e.until) {
			if n-usable <= n/2 {
				break
			}
			reason = "more than half of the servers are unhealthy or ejected"
		}
		m.end(e.Server, e.st, now, reason)
	}
	m.notePanic()
}

const over = "the time of the ejection is over"

// end ends the ejection of a server. The caller holds mu.
func (m *Monitor) end(s *proxying.Server, st *State, now time.Time, reason string) {
	m.change(s, st, func() { st.ejected, st.calm = time.Time{}, now }, reason)
}

// compare ends an interval: it compares the servers, and ejects the outliers.
func (m *Monitor) compare(now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	servers := m.Upstream.Servers()
	samples := make([]sample, len(servers))
	for i, s := range servers {
		st := m.StateOf(s)
		st.mu.Lock()
		samples[i] = st.begin()
		if st.ejected.IsZero() && st.ejections > 0 && now.Sub(st.calm) >= m.Outliers.Ejection {
			st.ejections--
			st.calm = now
		}
		st.mu.Unlock()
	}
	for _, f := range m.Outliers.compare(samples) {
		m.eject(servers[f.server], m.StateOf(servers[f.server]), now, f.by, f.reason)
	}
	m.notePanic()
}
