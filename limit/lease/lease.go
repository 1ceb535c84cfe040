package lease

import (
	"math"
	"math/rand/v2"
	"time"
)

const (
	turnTime    = 10 * time.Millisecond // the resolution of all times
	leastPeriod = 50 * time.Millisecond // between two exchanges of a lease with an empty bucket
	mostPeriod  = time.Second
	ofReplica   = 5 * time.Millisecond // of the period, for each replica
	patience    = leastPeriod          // with an exchange, before the replica grants tokens itself
	holdTime    = time.Second          // for which an unused lease keeps its tokens
	leastRetry  = 100 * time.Millisecond
	smoothing   = 100 * time.Millisecond // of the demand
	leastShare  = 10                     // a replica always has this part of its equal share
	lead        = 3 * turnTime           // that an exchange takes, with the wait for the next turn
)

// A lease is the part of a bucket that this replica may use. The mutex of its shard guards it,
// except next and due. Times are those since the start of the Leaser.
type lease struct {
	rate  *Rate
	shard *shard
	key   string // of the bucket; "" for a lease that no bucket backs

	tokens        int64 // left; negative: used on credit
	credit        int64 // how far tokens may fall below zero
	low           int64 // an exchange is due at once if no more are left
	used, refused int64 // requests since the last check

	idle       bool // no check is planned
	woken      bool // not checked since it was idle
	queued     bool // the next turn checks it
	exchanging bool
	returning  int64 // tokens that the exchange returns
	local      bool  // the last exchange failed, and the replica grants tokens itself
	failures   int

	demand           float64       // requests per second
	own, total       float64       // tokens per second that this replica, and all of them, take
	seen             int64         // Total of the last exchange
	fraction         float64       // of the token that the replica grants itself next
	checked, active  time.Duration // the last check, and the last one that found requests
	sent, settled    time.Duration // the last exchange began, and ended well
	granted          time.Duration // the replica granted itself tokens
	retry            time.Duration // after a failure, the next exchange
	tokenAt, fullsAt time.Duration // the bucket has a token, and is full

	due int64 // the turn of the next check; the goroutine of the Leaser has it
}

// left returns the number of requests that would be admitted now.
func (l *lease) left() int64 { return l.tokens + l.credit }

// wake prepares an idle lease for the first request after a pause.
func (l *lease) wake(now time.Duration) {
	r := l.rate
	l.idle, l.woken = false, true
	switch {
	case l.key == "" || r.leaser.down.Load():
		if !l.local {
			l.detach(now)
		}
		l.grant(now)
	case now >= l.fullsAt:
		l.credit = r.fresh()
	default: // the part of the bucket that is full, as far as the replica knows
		full := max(0, 1-float64(l.fullsAt-now)/float64(r.fill()))
		l.credit = max(l.credit, int64(full*float64(r.fresh())))
	}
	l.low = l.left() / 2
	l.checked, l.active = now, now
}

// check brings a lease up to date. It returns the time of the next check, or 0 if the lease has
// become idle, and the exchange to send, if send is true.
func (l *lease) check(now time.Duration) (x Exchange, send bool, next time.Duration) {
	r := l.rate
	l.measure(now)
	unused := now-l.active >= holdTime
	woken := l.woken
	l.woken = false
	switch {
	case l.exchanging:
		if now-l.sent >= patience {
			l.grant(now)
		}
		return x, false, now + turnTime
	case l.key == "" || r.leaser.down.Load() || l.local && now < l.retry:
		if !l.local {
			l.detach(now)
		}
		l.grant(now)
		if unused {
			l.idle = true
			return x, false, 0
		}
		return x, false, now + leastPeriod
	case woken && l.left() > l.low:
		return x, false, now + r.pause(l.left())
	}
	period := r.leaser.period()
	target := min(int64(math.Ceil(l.demand*(period+lead).Seconds())), r.capacity())
	if unused || l.credit >= 2*target && !l.local {
		target = 0
	}
	x = Exchange{Key: l.key, Every: r.every, Fill: r.fill(), Used: max(0, -l.tokens), Want: target - max(0, l.tokens)}
	if x.Want < 0 && l.tokens <= 2*target+1 && !unused {
		x.Want = 0 // a few too many are not worth an exchange
	}
	if x.Used == 0 && x.Want == 0 && !l.local {
		if unused {
			l.idle = true
			return x, false, 0
		}
		return x, false, now + period
	}
	l.returning = max(0, -x.Want)
	l.tokens -= l.returning
	l.exchanging, l.sent = true, now
	return x, true, now + patience
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
	l.used, l.refused, l.checked = 0, 0, now
}

// settle applies the results of an exchange and returns the time of the next check.
func (l *lease) settle(x *Exchange, now time.Duration) (next time.Duration) {
	l.exchanging = false
	l.tokens += l.returning
	if x.Err != nil {
		l.tokens -= l.returning
		l.returning = 0
		l.failures++
		l.detach(now)
		l.retry = now + jitter(min(leastRetry<<min(l.failures-1, 8), time.Second))
		return now + turnTime
	}
	l.returning, l.failures, l.local = 0, 0, false
	l.tokens += x.Taken
	l.credit = int64(math.Round(float64(max(0, x.Remaining)) * l.count(x, now)))
	l.tokenAt, l.fullsAt = now+x.Retry, now+x.Reset
	if x.Taken < x.Used+x.Want {
		l.low = math.MinInt64 // asking again before the next period would not help
		return now + l.rate.pause(0)
	}
	l.low = min(int64(math.Ceil(l.demand*lead.Seconds())), l.left()/2)
	return now + l.rate.pause(x.Remaining)
}

// count updates the rates at which tokens are taken. It returns the part of the tokens in the
// bucket that this replica may use on credit: half of the part that it has in the use.
func (l *lease) count(x *Exchange, now time.Duration) (part float64) {
	all, passed := x.Total-l.seen, min(now-l.settled, time.Second)
	switch {
	case l.settled == 0 && x.Total == x.Taken: // no other replica has used the bucket
		l.own, l.total = float64(x.Taken), float64(x.Taken)
	case l.settled == 0:
		l.own, l.total = float64(x.Taken), max(float64(x.Taken), 1/l.rate.every.Seconds())
	case all >= x.Taken && passed > 0: // otherwise, the bucket is new
		weight := passed.Seconds()
		l.own += weight * (float64(x.Taken)/passed.Seconds() - l.own)
		l.total += weight * (float64(all)/passed.Seconds() - l.total)
	}
	l.seen, l.settled = x.Total, now
	if l.own <= 0 || l.total <= 0 {
		return 0.5 / float64(l.rate.leaser.replicas.Load())
	}
	return min(l.own/l.total, 1) / 2
}

// detach makes the lease independent of the store. It forgets the tokens that were used on credit.
func (l *lease) detach(now time.Duration) {
	if !l.local {
		l.granted = now
	}
	l.local = true
	l.tokens, l.credit, l.low = min(max(0, l.left()), l.burst()), 0, math.MinInt64
}

// grant adds the tokens of the replica's share. During an exchange they are on credit.
func (l *lease) grant(now time.Duration) {
	since := l.granted
	if l.exchanging {
		since = max(since, l.sent)
	}
	l.granted = now
	l.fraction += l.share() * (now - since).Seconds()
	n := min(int64(l.fraction), max(0, l.burst()-l.left()))
	l.fraction -= math.Floor(l.fraction)
	if l.exchanging && !l.local {
		l.credit += n
	} else {
		l.tokens += n
	}
	l.rate.leaser.grantedLocally.Add(n)
	l.tokenAt, l.fullsAt = now+time.Duration(float64(time.Second)/l.share()), now+l.rate.fill()
}

// share returns the number of tokens per second that the replica may use without the store.
func (l *lease) share() float64 {
	rate, n := 1/l.rate.every.Seconds(), float64(l.rate.leaser.replicas.Load())
	return min(max(l.own+max(0, rate-max(l.total, l.own))/n, rate/n/leastShare), rate)
}

// burst returns the number of tokens that the replica's share may accumulate.
func (l *lease) burst() int64 {
	part := l.share() * l.rate.every.Seconds()
	return max(1, int64(math.Ceil(float64(l.rate.capacity())*part)))
}

// jitter returns d, or up to a quarter less, so that the replicas do not ask in lockstep.
func jitter(d time.Duration) time.Duration { return d - rand.N(d/4+1) }
