package limit

import (
	"math"
	"time"
)

const (
	// firstLimit is the limit before a load has tested it.
	firstLimit = 100
	// leastLimit is the lowest limit. A single server at 95% of its capacity refuses 1.9% of its
	// requests with it (M/M/1/25), and more with a lower one.
	leastLimit = 25
	// defaultMost is the highest limit if Max is 0.
	defaultMost = 1000

	// A window ends when it has lasted this long and has enough samples.
	windowTime    = 100 * time.Millisecond
	windowSamples = 200
	// usedPart is the part of a window's samples, 1/usedPart, that must have found the limit
	// reached. Otherwise the limit does not matter and is not tested.
	usedPart = 100

	// step is the ratio of a higher limit that is tried to the limit before it. A lower one is
	// tried with its square, and adopted with step: so much room it leaves above the lowest
	// limit with the same throughput.
	step = 1.6
	// room is what the first failed trial of a higher limit adds to the limit. A limit that
	// equals the number of servers leaves some of them idle between two requests.
	room = 1.4
	// worth is the part of its additional requests in flight that a higher limit must serve: the
	// ratio of the changes of throughput and of requests in flight, as logarithms. It is 1 if
	// requests do not affect each other, and 0 if they only wait for each other.
	worth = 0.35
	// loss is the part of the throughput that the trial of a lower limit may cost. A window
	// measures it with a standard deviation of the same size.
	loss = 0.1
	// leastChange is the ratio of the numbers of requests in flight below which a trial goes on.
	leastChange = 1.15

	// failedTrials is the number of failed trials of a higher limit, in a row, after which a lower
	// one is tried. upEvery is the time after a failed trial; it doubles three times. downEvery is
	// the time between two trials of a lower limit.
	failedTrials = 2
	upEvery      = time.Second
	downEvery    = 10 * time.Second
)

// An adaptive limit follows the capacity of a service. While requests reach the limit, it tries a higher one for a
// window and compares the throughput. If more requests in flight are served at a higher rate, the limit stays. If the
// rate is the same, they only wait for each other, and the limit goes back; from time to time it tries a much lower
// one. So it needs no latency without load, which noise would falsify, refuses nothing in order to measure it, and does
// not touch a limit that no request reaches. docs/decisions/adaptive-concurrency.md compares it with others.
//
// Goroutines may not share it.
type adaptive struct {
	level float64 // the limit between trials
	trial float64 // ratio of the current limit to level: 1, or that of a trial
	most  int

	before    span      // the last one at level
	roomy     bool      // a trial of a higher limit has failed since level was adopted
	doubtful  bool      // the trial has to succeed once more
	failed    int       // trials of a higher limit in a row
	upAfter   time.Time // no trial of a higher limit before
	downAfter time.Time // no trial of a lower limit before

	skip  int // requests that were in flight before the window and do not count
	began time.Time
	now   span
}

// A span sums up a window.
type span struct {
	n, used  int     // samples, and those that found the limit reached
	inFlight float64 // sum
	lasted   time.Duration
}

// newAdaptive returns a limit of at most most.
func newAdaptive(most int) *adaptive {
	a := &adaptive{level: firstLimit, trial: 1}
	a.setMost(most)
	return a
}

func (a *adaptive) setMost(most int) {
	if most <= 0 {
		most = defaultMost
	}
	a.most = most
	a.level = min(a.level, float64(most))
}

// max returns the limit that applies now.
func (a *adaptive) max() int { return max(1, min(int(a.level*a.trial), a.most)) }

// leave counts a request that the service has served. inFlight is the number of requests before it left.
func (a *adaptive) leave(now time.Time, inFlight int) {
	if a.skip > 0 {
		a.skip--
		a.began = now
		return
	}
	if a.began.IsZero() {
		a.began = now
	}
	w := &a.now
	w.n++
	w.inFlight += float64(inFlight)
	if inFlight >= a.max() {
		w.used++
	}
	if w.lasted = now.Sub(a.began); w.n >= windowSamples && w.lasted >= windowTime {
		a.judge(now, inFlight-1)
		a.began, a.now = now, span{}
	}
}

// judge ends a window. The next one may have another limit.
func (a *adaptive) judge(now time.Time, inFlight int) {
	before := a.max()
	if a.compare(now) {
		a.trial, a.doubtful = a.next(now), false
	}
	if a.max() != before {
		a.skip = inFlight // they were admitted under the limit before
	}
}

// compare compares the window that ends with the one before, and reports whether the next one may begin a trial.
func (a *adaptive) compare(now time.Time) bool {
	switch requests, throughput := a.now.changes(a.before); {
	case a.trial == 1:
		if a.failed > 0 && throughput < -math.Log(step) {
			a.downAfter = now // the service has become slower
		}
		a.before = a.now
	case a.trial > 1 && requests < math.Log(leastChange): // it is hardly used yet
		return false
	case a.trial > 1 && throughput < worth*requests:
		if a.failed++; !a.roomy {
			a.roomy, a.level = true, min(a.level*room, float64(a.most))
		}
		a.trial, a.upAfter = 1, now.Add(upEvery<<min(a.failed-1, 3))
	case a.trial > 1 && a.roomy && !a.doubtful: // chance may be all of it, after so many trials
		a.doubtful = true
		return false
	case a.trial > 1:
		a.level, a.roomy = min(a.level*step, float64(a.most)), false
		a.trial, a.failed, a.downAfter, a.before = 1, 0, now.Add(downEvery), a.now
	default:
		if requests < -math.Log(leastChange) && throughput > math.Log(1-loss) {
			a.level = max(a.level/step, leastLimit)
		} else {
			a.downAfter = now.Add(downEvery)
		}
		a.trial, a.failed = 1, 0
		return false // a trial needs a window at the new level to compare with
	}
	return true
}

// next returns the next trial after a window at the level.
func (a *adaptive) next(now time.Time) float64 {
	switch {
	case a.before.used*usedPart < a.before.n:
		a.failed = 0
		return 1
	case a.failed >= failedTrials && a.level > leastLimit && !now.Before(a.downAfter):
		return max(1/(step*step), leastLimit/a.level)
	case a.level < float64(a.most) && !now.Before(a.upAfter):
		return step
	}
	return 1
}

// changes returns how the number of requests in flight and the throughput differ from those of another window, as the
// logarithms of their ratios.
func (s *span) changes(o span) (requests, throughput float64) {
	if o.n == 0 {
		return 0, 0
	}
	requests = math.Log(s.inFlight / float64(s.n) / (o.inFlight / float64(o.n)))
	throughput = math.Log(float64(s.n) / s.lasted.Seconds() / (float64(o.n) / o.lasted.Seconds()))
	return requests, throughput
}
