package lease

import (
	"math"
	"math/rand/v2"
	"sync"
	"time"
)

const (
	turnTime   = 10 * time.Millisecond // the resolution of all times
	patience   = leastPeriod           // with an exchange, before the replica grants tokens itself
	holdTime   = time.Second           // for which an unused lease keeps its tokens
	leastRetry = 100 * time.Millisecond
	smoothing  = 100 * time.Millisecond // of the demand
	pacing     = time.Second            // smoothing of the demand for a share
	lead       = 3 * turnTime           // that an exchange takes, with the wait for the next turn
)

// A quota is the rate and the size of a bucket in the store.
type quota struct {
	fleet *fleet
	every time.Duration // in which a token is added
	burst int64
	keys  bool // the rate has a bucket for each key
}

// fill returns the time in which an empty bucket becomes full. A bucket has at least the tokens
// of one and a half periods: otherwise some would be lost before a replica asks for them.
func (q *quota) fill() time.Duration {
	return max(time.Duration(q.burst)*q.every, q.fleet.period()*3/2)
}

// capacity returns the number of tokens of a full bucket.
func (q *quota) capacity() int64 { return int64(q.fill() / q.every) }

// pause returns the time until the next check of a lease, given the tokens that are left in the
// bucket: a quarter of the time in which as many return.
func (q *quota) pause(left int64) time.Duration {
	enough := time.Duration(float64(max(0, left)) * float64(q.every) / 4)
	return jitter(min(max(q.fleet.period(), enough), mostPeriod))
}

// A lease is the part of a bucket that this replica may use. mu guards it, except due.
// Times are those since the start of the Leaser.
type lease struct {
	quota  *quota
	mu     *sync.Mutex // of its shard
	key    string      // of the bucket; "" for a lease that no bucket backs
	number int64       // of the lease in its replica

	taken         int64 // tokens since the lease was made, as far as the replica knows
	tokens        int64 // left of them; negative: used on credit
	credit        int64 // how far tokens may fall below zero
	low           int64 // an exchange is due at once if no more are left
	used, refused int64 // tokens of requests since the last check
	wanted        int64 // tokens of the largest request that was refused since then, if more than one

	idle       bool // no check is planned
	woken      bool // not checked since it was idle
	queued     bool // the next turn checks it
	exchanging bool
	reported   int64 // by the exchange: tokens that were used, and those that are left
	lent       int64 // tokens that the replica granted itself during the exchange
	local      bool  // the last exchange failed, and the replica grants tokens itself
	failures   int

	share            float64       // part of the rate that the store leaves to the replica
	shared           bool          // the store may have a share of the lease
	alone            bool          // no other replica used the bucket before the last exchange
	demand, pace     float64       // requests per second, in the last turns and in the last seconds
	had, total       int64         // Taken and Total of the last exchange
	fraction         float64       // of the token that the replica grants itself next
	checked, active  time.Duration // the last check, and the last one that found requests
	sent, settled    time.Duration // the last exchange began, and so did the last one that ended well
	granted          time.Duration // until then the replica has granted itself tokens
	retry            time.Duration // after a failure, the next exchange
	tokenAt, fullsAt time.Duration // the bucket has a token, and is full

	due int64 // the turn of the next check; the goroutine of the Leaser has it
}

// left returns the number of requests that would be admitted now.
func (l *lease) left() int64 { return l.tokens + l.credit }

// refuse counts a request of n tokens that is refused.
func (l *lease) refuse(n int64) {
	if n > l.quota.burst {
		return
	}
	l.refused += n
	if n > 1 {
		l.wanted = max(l.wanted, n)
	}
}

// wake prepares an idle lease for the first request after a pause.
func (l *lease) wake(now time.Duration) {
	q := l.quota
	l.idle, l.woken = false, true
	away := l.key == "" || q.fleet.down.Load()
	if !l.local || !away {
		l.refill(now)
	}
	if away {
		l.detach(now)
	}
	if l.local {
		l.grant(now) // for the pause, even if the store is back
	}
	l.low = l.left() / 2
	l.pace, l.checked, l.active = 0, now, now
}

// refill gives the credit for the part of the bucket that is full, as far as the replica knows.
func (l *lease) refill(now time.Duration) {
	full := min(max(0, 1-float64(l.fullsAt-now)/float64(l.quota.fill())), 1)
	l.credit = max(l.credit, int64(full*float64(l.fresh()))-max(0, l.tokens))
}

// check brings a lease up to date. It returns the time of the next check, or 0 if the lease has
// become idle, and the exchange to send, if send is true.
func (l *lease) check(now time.Duration) (x Exchange, send bool, next time.Duration) {
	q := l.quota
	l.measure(now)
	unused := now-l.active >= holdTime
	shared := l.shared && now-l.settled < ShareTTL
	woken := l.woken
	l.woken = false
	switch {
	case l.exchanging:
		if now-l.sent >= patience {
			l.grant(now)
		}
		return x, false, now + turnTime
	case l.key == "" || q.fleet.down.Load() || l.local && now < l.retry:
		l.detach(now)
		l.grant(now)
		if unused && !shared {
			l.idle = true
			return x, false, 0
		}
		return x, false, now + leastPeriod
	case woken && l.left() > l.low && l.wanted == 0:
		return x, false, now + q.pause(l.left())
	}
	period := q.fleet.period()
	want := min(int64(math.Ceil(l.demand*(period+lead).Seconds())), q.capacity())
	if unused || l.credit >= 2*want && !l.local {
		want = 0
	}
	want, l.wanted = max(want, l.wanted), 0
	if l.tokens > want && l.tokens <= 2*want+1 && !unused {
		want = l.tokens // a few too many are not worth an exchange
	}
	weight := l.weight(unused)
	if l.tokens == want && weight == 0 && !shared && !l.local {
		if unused {
			l.idle = true
			return x, false, 0
		}
		l.refill(now)
		return x, false, now + period
	}
	return l.begin(want, weight, now), true, now + patience
}

// weight returns the demand for which the lease needs a share, or 0 if it has enough without one.
func (l *lease) weight(unused bool) float64 {
	if unused || l.pace*l.quota.every.Seconds() < l.quota.fleet.least()/2 {
		return 0
	}
	return l.pace
}

// begin begins an exchange, after which the lease has a number of tokens at most.
func (l *lease) begin(want int64, weight float64, now time.Duration) Exchange {
	f := l.quota.fleet
	_, counted := l.part(now)
	x := Exchange{Key: l.key, Every: l.quota.every, Fill: l.quota.fill(), Replica: f.replica, Lease: l.number,
		Taken: l.taken, Used: l.taken - l.tokens, Want: want, Weight: weight, Replicas: int(f.replicas.Load()),
		Least: f.least(), Left: f.left()}
	switch {
	case l.local && !counted:
		x.Used = max(x.Used, l.taken) // the store has not taken the tokens that are left
	case l.tokens > want:
		l.taken -= l.tokens - want
		l.tokens = want // the others may be returned even if the exchange fails
	}
	if weight == 0 || now-l.settled > ShareTTL-margin {
		l.share, l.granted = 0, now // the store may give a share to others before its response arrives
	}
	x.Share = l.share
	l.shared = l.shared || weight > 0
	l.reported, l.lent = x.Used+l.tokens, 0
	l.exchanging, l.sent = true, now
	return x
}

// measure counts the requests since the last check.
func (l *lease) measure(now time.Duration) {
	n := l.used + l.refused
	passed := now - l.checked
	if n > 0 {
		l.active = now
	}
	if passed <= 0 {
		return
	}
	weight := min(1, passed.Seconds()/smoothing.Seconds())
	l.demand += weight * (float64(n)/passed.Seconds() - l.demand)
	l.pace += min(1, passed.Seconds()/pacing.Seconds()) * (float64(n)/passed.Seconds() - l.pace)
	l.used, l.refused, l.checked = 0, 0, now
}

// settle applies the results of an exchange and returns the time of the next check.
func (l *lease) settle(x *Exchange, now time.Duration) (next time.Duration) {
	l.exchanging = false
	if x.Err != nil {
		l.failures++
		l.detach(now)
		l.retry = now + jitter(min(leastRetry<<min(l.failures-1, 8), time.Second))
		return now + turnTime
	}
	l.failures, l.local = 0, false
	l.tokens += x.Taken - l.reported - l.lent
	l.taken, l.share, l.shared = x.Taken, x.Share, x.Weight > 0
	others := x.Total - l.total - (x.Taken - l.had)
	l.alone = -1 <= others && others <= 1 // parts of tokens are rounded
	l.had, l.total = x.Taken, x.Total
	l.credit = max(0, x.Remaining) / l.sharers()
	l.settled = l.sent // the response may be late, and the store counts the end of the share from then on
	l.granted, l.tokenAt, l.fullsAt = now, now+x.Retry, now+x.Reset
	if x.Taken < x.Used+x.Want {
		l.low = math.MinInt64 // asking again before the next period would not help
		return now + l.quota.pause(0)
	}
	l.low = min(int64(math.Ceil(l.demand*lead.Seconds())), l.left()/2)
	return now + l.quota.pause(x.Remaining)
}

// sharers returns the number of replicas that are assumed to use the bucket at a time, and so may
// each have a part of it on credit. A client mostly uses one or two replicas, and a rate without keys
// is used by all of them.
func (l *lease) sharers() int64 {
	n := l.quota.fleet.replicas.Load()
	switch {
	case l.alone:
		return 1
	case l.quota.keys:
		return min(n, 2)
	default:
		return n
	}
}

// fresh returns the credit of a bucket that is full as far as the replica knows.
func (l *lease) fresh() int64 { return max(1, l.quota.burst/l.sharers()) }

// detach makes the lease independent of the store.
func (l *lease) detach(now time.Duration) {
	if l.local {
		return
	}
	l.local, l.low = true, math.MinInt64
	if _, counted := l.part(now); !counted {
		l.granted = now
	}
}

// part returns the part of the rate that the replica may use without the store. If the store takes
// tokens for it, counted is true.
func (l *lease) part(now time.Duration) (part float64, counted bool) {
	f, passed := l.quota.fleet, now-l.settled
	equal := 1 / float64(f.replicas.Load())
	switch {
	case l.key == "" || f.gone(now):
		return equal, false
	case l.share == 0 || passed > ShareTTL+margin:
		return f.least(), false
	case passed < ShareTTL-margin:
		return l.share, true
	default: // the clocks may differ: this is less than the share, and than that of a replica that is gone
		return max(min(l.share, equal), f.least()), true
	}
}

// grant adds the tokens of the replica's part.
func (l *lease) grant(now time.Duration) {
	part, counted := l.part(now)
	l.fraction += part * float64(now-l.granted) / float64(l.quota.every)
	n := min(int64(l.fraction), max(0, l.burst(part)-l.left()))
	l.fraction -= math.Floor(l.fraction)
	l.granted = now
	l.tokens += n
	l.lent += n
	if counted {
		l.taken += n
	}
	l.quota.fleet.grantedLocally.Add(n)
	l.tokenAt, l.fullsAt = now+time.Duration(float64(l.quota.every)/part), now+l.quota.fill()
}

// burst returns the number of tokens that a part of the rate may accumulate.
func (l *lease) burst(part float64) int64 {
	return max(1, int64(math.Ceil(float64(l.quota.capacity())*part)), l.fresh())
}

// jitter returns d, or up to a quarter less, so that the replicas do not ask in lockstep.
func jitter(d time.Duration) time.Duration { return d - rand.N(d/4+1) }
