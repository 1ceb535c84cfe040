package lease

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Options are the settings of a Leaser.
type Options struct {
	// Fleet is the name of the replicas that share limits. All keys of the store contain it.
	Fleet string
	// Changed, if not nil, is called by the goroutine of Run after a change. No tokens are exchanged
	// until it returns.
	Changed func(Condition)
}

// A Condition is the state of the connection to the store.
type Condition struct {
	// Failing reports whether calls have failed in the last two seconds.
	Failing bool
	// Err is the error of the first such call. After the end of the failures, Lasted is the
	// time since then.
	Err    error
	Lasted time.Duration
}

// A Leaser exchanges tokens and slots with a store. Make one with New, and call Run. Goroutines
// may share it.
type Leaser struct {
	fleet
	store   Store
	changed func(Condition)
	leases  atomic.Int64 // that were made

	mu     sync.Mutex // guards the fields below
	woken  []*lease   // to be checked in the next turn
	asleep bool       // the goroutine of Run waits for wake
	slots  []*Slots
	stats  Stats

	wake chan struct{}
	done chan func(now time.Duration) // results of calls
	loop loop
}

// Stats are the counts of a Leaser since it was made.
type Stats struct {
	Replicas      int // of the fleet, without absent replicas
	Failing       bool
	OK, Failed    uint64        // results of exchanges, and of other calls
	Waited        time.Duration // for all calls
	Calls         uint64        // to the store; one may have many exchanges
	Taken         uint64        // tokens
	GrantedItself uint64        // tokens that the replica granted itself
}

// A loop is the state of Run.
type loop struct {
	wheel    [wheelTurns][]*lease // to be checked in a turn, by its number
	planned  int                  // number of entries of wheel
	turn     int64                // the last one
	ready    []outgoing
	calls    int // whose results have not been applied
	inFlight int // those of Exchange

	joining     bool
	nextJoin    time.Duration
	joinFails   int
	failing     bool
	failedFirst time.Duration
	failedLast  time.Duration
}

// An outgoing is an exchange of a lease.
type outgoing struct {
	lease    *lease
	exchange Exchange
}

const (
	wheelTurns  = 128 // more than mostPeriod takes
	maxBatch    = 512
	maxInFlight = 4
	joinTime    = time.Second     // between two calls of Join
	failingTime = 2 * time.Second // without a failure, until the store counts as recovered
	finishTime  = time.Second     // for returning tokens and slots
)

// New returns a Leaser for a store, which the caller closes after Run.
func New(store Store, o Options) *Leaser {
	c := &Leaser{
		fleet: fleet{name: o.Fleet, replica: fmt.Sprintf("%016x", rand.Uint64()), began: time.Now()},
		store: store, changed: o.Changed,
		wake: make(chan struct{}, 1), done: make(chan func(time.Duration), maxInFlight),
	}
	c.replicas.Store(1)
	c.stats.Replicas = 1
	return c
}

// enqueue plans a check of a lease in the next turn. The mutex of its shard is held.
func (c *Leaser) enqueue(l *lease) {
	if l.queued {
		return
	}
	l.queued = true
	c.mu.Lock()
	c.woken = append(c.woken, l)
	wake := c.asleep
	c.asleep = false
	c.mu.Unlock()
	if wake {
		select {
		case c.wake <- struct{}{}:
		default:
		}
	}
}

// Run exchanges tokens until the end of ctx. It then waits for calls of the store, and returns the
// tokens and the slots, as far as a second suffices.
func (c *Leaser) Run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	due := c.now() // of the next turn
	for {
		select {
		case <-ctx.Done():
			c.finish()
			return
		case apply := <-c.done:
			now := c.now()
			c.loop.calls--
			apply(now)
			if next := now + c.pause(now); next < due {
				due = next
				timer.Reset(due - now)
			}
		case <-c.wake:
			due = c.nextTurn(timer)
		case <-timer.C:
			due = c.nextTurn(timer)
		}
	}
}

// call calls the store in a goroutine. The goroutine of Run applies the result.
func (c *Leaser) call(f func() (apply func(now time.Duration))) {
	c.loop.calls++
	go func() { c.done <- f() }() // finish awaits it
}

// nextTurn runs a turn. It returns the time of the next one and sets the timer to it.
func (c *Leaser) nextTurn(timer *time.Timer) (due time.Duration) {
	now := c.now()
	c.runTurn(now)
	d := c.pause(now)
	timer.Reset(d)
	return now + d
}

// pause returns the time until the next turn.
func (c *Leaser) pause(now time.Duration) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.loop.planned > 0 || len(c.woken) > 0 {
		return turnTime
	}
	c.asleep = true
	next := c.loop.nextJoin
	for _, s := range c.slots {
		if !s.calling && !c.down.Load() {
			next = min(next, s.next)
		}
	}
	return max(turnTime, next-now)
}

// runTurn checks the leases that are due.
func (c *Leaser) runTurn(now time.Duration) {
	turn := int64(now / turnTime)
	for n := max(c.loop.turn+1, turn-wheelTurns+1); n <= turn; n++ {
		slot := &c.loop.wheel[n%wheelTurns]
		due := *slot
		c.loop.planned -= len(due)
		c.loop.turn = n
		for _, l := range due {
			if l.due != 0 && l.due <= n { // less if the turn was skipped, after a pause of the process
				c.checkOne(l, now)
			}
		}
		clear(due)
		*slot = due[:0]
	}
	c.mu.Lock()
	woken := c.woken
	c.woken, c.asleep = nil, false
	c.mu.Unlock()
	for _, l := range woken {
		c.checkOne(l, now)
	}
	c.dispatch()
	c.join(now)
	c.hold(now)
	c.recover(now)
}

// checkOne checks a lease and plans the next check.
func (c *Leaser) checkOne(l *lease, now time.Duration) {
	l.mu.Lock()
	l.queued = false
	x, send, next := l.check(now)
	l.mu.Unlock()
	if send {
		c.loop.ready = append(c.loop.ready, outgoing{l, x})
	}
	c.plan(l, next)
}

// plan plans the next check of a lease; 0 is none.
func (c *Leaser) plan(l *lease, at time.Duration) {
	if at == 0 {
		l.due = 0
		return
	}
	turn := min(max(int64((at+turnTime-1)/turnTime), c.loop.turn+1), c.loop.turn+wheelTurns-1)
	if l.due == turn {
		return
	}
	l.due = turn
	c.loop.wheel[turn%wheelTurns] = append(c.loop.wheel[turn%wheelTurns], l)
	c.loop.planned++
}

// dispatch sends exchanges that are ready, in a few calls at a time.
func (c *Leaser) dispatch() {
	for len(c.loop.ready) > 0 && c.loop.inFlight < maxInFlight {
		n := min(len(c.loop.ready), maxBatch)
		batch := c.loop.ready[:n:n]
		c.loop.ready = c.loop.ready[n:]
		c.loop.inFlight++
		c.call(func() func(time.Duration) { return c.exchange(batch) })
	}
	if len(c.loop.ready) == 0 {
		c.loop.ready = nil
	}
}

// exchange calls the store.
func (c *Leaser) exchange(batch []outgoing) (apply func(now time.Duration)) {
	began := time.Now()
	xs := make([]Exchange, len(batch))
	for i := range batch {
		xs[i] = batch[i].exchange
	}
	err := c.store.Exchange(context.Background(), xs)
	waited := time.Since(began)
	return func(now time.Duration) {
		c.loop.inFlight--
		c.settle(batch, xs, err, now, waited)
		c.dispatch()
	}
}

// settle applies the results of a call of Exchange.
func (c *Leaser) settle(batch []outgoing, xs []Exchange, failure error, now, waited time.Duration) {
	c.down.Store(failure != nil)
	failed, taken := 0, int64(0)
	for i := range xs {
		x := &xs[i]
		if failure != nil {
			x.Err = failure
		}
		if x.Err != nil {
			failed++
			c.fail(now, x.Err)
		}
		taken += max(0, x.Taken-batch[i].exchange.Taken)
		l := batch[i].lease
		l.mu.Lock()
		next := l.settle(x, now)
		l.mu.Unlock()
		c.plan(l, next)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stats.OK += uint64(len(xs) - failed)
	c.stats.Failed += uint64(failed)
	c.stats.Calls++
	c.stats.Waited += waited
	c.stats.Taken += uint64(taken)
}

// join registers the replica when it is time.
func (c *Leaser) join(now time.Duration) {
	if c.loop.joining || now < c.loop.nextJoin {
		return
	}
	c.loop.joining = true
	c.loop.nextJoin = now + joinTime
	j := Join{Key: c.key("replicas", ""), Replica: c.replica, Silent: now - time.Duration(c.heard.Load())}
	c.call(func() func(time.Duration) {
		err := c.store.Join(context.Background(), &j)
		return func(now time.Duration) { c.joined(&j, err, now) }
	})
}

// joined applies the result of join. After a failure, join is tried again soon: while the store
// is down, it is the only call.
func (c *Leaser) joined(j *Join, err error, now time.Duration) {
	c.loop.joining = false
	c.down.Store(err != nil)
	if err != nil {
		c.fail(now, err)
		c.loop.nextJoin = now + jitter(min(leastRetry<<min(c.loop.joinFails, 8), joinTime))
		c.loop.joinFails++
		return
	}
	c.loop.nextJoin = now + jitter(joinTime)
	if c.loop.joinFails > 0 {
		c.loop.nextJoin = now // the store does not know yet that a response arrives
	}
	c.loop.joinFails = 0
	c.members = *j
	c.replicas.Store(int64(max(1, j.Replicas)))
	c.heard.Store(int64(now))
	c.mu.Lock()
	c.stats.Replicas = max(1, j.Replicas-j.Absent)
	c.mu.Unlock()
}

// fail notes a failed call.
func (c *Leaser) fail(now time.Duration, err error) {
	c.loop.failedLast = now
	if c.loop.failing {
		return
	}
	c.loop.failing, c.loop.failedFirst = true, now
	c.report(Condition{Failing: true, Err: err})
}

// recover reports the end of failures.
func (c *Leaser) recover(now time.Duration) {
	if c.loop.failing && now-c.loop.failedLast >= failingTime && !c.down.Load() {
		c.loop.failing = false
		c.report(Condition{Lasted: now - c.loop.failedFirst})
	}
}

func (c *Leaser) report(to Condition) {
	c.mu.Lock()
	c.stats.Failing = to.Failing
	c.mu.Unlock()
	if c.changed != nil {
		c.changed(to)
	}
}

// Stats returns the counts.
func (c *Leaser) Stats() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.stats
	s.GrantedItself = uint64(c.grantedLocally.Load())
	return s
}

// finish returns all tokens and slots, and removes the replica. It waits for calls in progress.
func (c *Leaser) finish() {
	ctx, cancel := context.WithTimeout(context.Background(), finishTime)
	defer cancel()
	for c.loop.calls > 0 {
		apply := <-c.done
		c.loop.calls--
		if ctx.Err() != nil {
			c.loop.ready = nil
		}
		apply(c.now())
	}
	if c.down.Load() {
		return
	}
	c.leaveSlots(ctx)
	c.returnTokens(ctx)
	c.store.Join(ctx, &Join{Key: c.key("replicas", ""), Replica: c.replica, Leave: true}) // otherwise it expires
}

// returnTokens returns the tokens of all leases, and takes those that were used on credit.
func (c *Leaser) returnTokens(ctx context.Context) {
	now := c.now()
	var xs []Exchange
	add := func(l *lease) {
		l.mu.Lock()
		defer l.mu.Unlock()
		if (l.tokens != 0 || l.shared) && l.key != "" {
			xs = append(xs, l.begin(0, 0, now))
		}
		l.detach(now)
		l.tokens, l.credit, l.shared = 0, 0, false // the wheel may have the lease again
	}
	for _, due := range c.loop.wheel {
		for _, l := range due {
			add(l)
		}
	}
	c.mu.Lock()
	woken := c.woken
	c.mu.Unlock()
	for _, l := range woken {
		add(l)
	}
	for batch := range slices.Chunk(xs, maxBatch) {
		if ctx.Err() != nil || c.store.Exchange(ctx, batch) != nil {
			return
		}
	}
}
