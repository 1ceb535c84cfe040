package limit

import (
	"container/heap"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// A controller is a limit of requests in flight that follows latencies.
type controller interface {
	max() int
	leave(now time.Time, took time.Duration, inFlight int)
}

// An offer is a load on a service for a time. The service works on servers requests at a time, any number if 0; the
// others wait in it in the order of their arrival.
type offer struct {
	lasts     time.Duration
	perSecond float64 // random arrivals (Poisson)
	servers   int
	mean      time.Duration              // of the service times
	times     func(r *rand.Rand) float64 // with the mean 1
	pause     time.Duration              // the service stops for this long every 3 s, as a collector of garbage does
}

func constant(*rand.Rand) float64      { return 1 }
func exponential(r *rand.Rand) float64 { return r.ExpFloat64() }
func lognormal(r *rand.Rand) float64   { return math.Exp(r.NormFloat64() - 0.5) }

// A simulated request.
type simulated struct {
	at    time.Duration // of the event: its arrival or its end
	began time.Duration
	ends  bool
}

type events []simulated

func (e events) Len() int           { return len(e) }
func (e events) Less(i, j int) bool { return e[i].at < e[j].at }
func (e events) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)        { *e = append(*e, x.(simulated)) }
func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

// An outcome counts the requests of one second.
type outcome struct {
	arrived, served int
	busy            time.Duration // of the servers together
	latencies       []time.Duration
}

// simulate executes the offers one after the other. It returns the outcome of each second.
func simulate(c controller, seed uint64, offers ...offer) []outcome {
	r := rand.New(rand.NewPCG(seed, 1))
	start := time.Unix(0, 0)
	var seconds []outcome
	second := func(at time.Duration) *outcome {
		for len(seconds) <= int(at/time.Second) {
			seconds = append(seconds, outcome{})
		}
		return &seconds[at/time.Second]
	}
	var queue []time.Duration // arrivals of the admitted requests that wait for a server
	var pending events
	inFlight, busy := 0, 0
	var from, last time.Duration
	for _, o := range offers {
		until := from + o.lasts
		begin := func(now, began time.Duration) {
			busy++
			at := now + time.Duration(float64(o.mean)*o.times(r))
			if o.pause > 0 && at/(3*time.Second) != now/(3*time.Second) {
				at += o.pause
			}
			heap.Push(&pending, simulated{at: at, began: began, ends: true})
		}
		heap.Push(&pending, simulated{at: from})
		for len(pending) > 0 && pending[0].at < until {
			e := heap.Pop(&pending).(simulated)
			second(e.at).busy += time.Duration(busy) * (e.at - last)
			last = e.at
			if !e.ends {
				heap.Push(&pending, simulated{at: e.at + time.Duration(r.ExpFloat64()/o.perSecond*float64(time.Second))})
				second(e.at).arrived++
				if inFlight >= c.max() {
					continue
				}
				second(e.at).served++
				inFlight++
				if o.servers > 0 && busy >= o.servers {
					queue = append(queue, e.at)
				} else {
					begin(e.at, e.at)
				}
				continue
			}
			busy--
			took := e.at - e.began
			c.leave(start.Add(e.at), took, inFlight)
			inFlight--
			second(e.at).latencies = append(second(e.at).latencies, took)
			if len(queue) > 0 && (o.servers == 0 || busy < o.servers) {
				next := queue[0]
				queue = queue[1:]
				begin(e.at, next)
			}
		}
		// The next offer has its own arrivals.
		pending = slices.DeleteFunc(pending, func(e simulated) bool { return !e.ends })
		heap.Init(&pending)
		from = until
	}
	return seconds
}

// weir is the limit of this package.
type weir struct{ *adaptive }

func (w weir) leave(now time.Time, _ time.Duration, inFlight int) { w.adaptive.leave(now, inFlight) }

// envoy is the gradient controller of Envoy's adaptive concurrency filter with its defaults: minRTT from 50 requests with a
// limit of 3 every minute, then limit*gradient + sqrt(limit) every 100 ms, with the gradient (minRTT*1.25)/p50 from 0.5
// to 2 (envoyproxy.io, "Adaptive Concurrency").
type envoy struct {
	limit, minRTT float64
	measuring     bool
	began, last   time.Time
	samples       []float64
}

func (e *envoy) max() int {
	if e.measuring {
		return 3
	}
	return int(e.limit)
}

func (e *envoy) leave(now time.Time, took time.Duration, _ int) {
	if e.began.IsZero() {
		*e = envoy{limit: 3, measuring: true, began: now, last: now}
	}
	e.samples = append(e.samples, float64(took))
	middle := func() float64 {
		slices.Sort(e.samples)
		m := e.samples[len(e.samples)/2]
		e.samples = e.samples[:0]
		return m
	}
	switch {
	case e.measuring && len(e.samples) >= 50:
		e.measuring, e.minRTT, e.last = false, middle(), now
	case e.measuring || now.Sub(e.last) < 100*time.Millisecond:
	case now.Sub(e.began) >= time.Minute:
		e.measuring, e.began, e.samples = true, now, nil
	default:
		gradient := min(max(e.minRTT*1.25/middle(), 0.5), 2)
		e.limit = min(max(e.limit*gradient+math.Sqrt(e.limit), 3), 1000)
		e.last = now
	}
}

// gradient2 is Gradient2Limit of Netflix's concurrency-limits with its defaults, in windows of a second: the limit
// follows the ratio of a long average of the latency, times 1.5, to that of the window. It has at most 1,000 here
// instead of 200.
type gradient2 struct {
	limit, long, sum float64
	n, peak          int
	last             time.Time
}

func (g *gradient2) max() int { return int(max(g.limit, 20)) }

func (g *gradient2) leave(now time.Time, took time.Duration, inFlight int) {
	if g.last.IsZero() {
		g.last, g.limit = now, 20
	}
	g.sum += float64(took)
	g.n++
	g.peak = max(g.peak, inFlight)
	if now.Sub(g.last) < time.Second || g.n < 10 {
		return
	}
	short, peak := g.sum/float64(g.n), g.peak
	g.sum, g.n, g.peak, g.last = 0, 0, 0, now
	if g.long == 0 {
		g.long = short
	}
	g.long += (short - g.long) * 2 / 601
	if g.long/short > 2 {
		g.long *= 0.95
	}
	if float64(peak) < g.limit/2 {
		return
	}
	const queue, smoothing, tolerance = 4, 0.2, 1.5
	next := g.limit*max(0.5, min(1, tolerance*g.long/short)) + queue
	g.limit = max(20, min(1000, g.limit*(1-smoothing)+next*smoothing))
}

// A scene is a load that a controller has to pass.
type scene struct {
	name   string
	offers []offer
	from   int     // the second from which on the requests count
	bar    float64 // of the requests, or of the capacity in an overload
	p99    time.Duration
}

// scenes returns the loads for a distribution of service times.
func scenes(times func(*rand.Rand) float64) []scene {
	const mean = 20 * time.Millisecond
	var all []scene
	for _, c := range []struct {
		perSecond float64
		mean      time.Duration
	}{{150, 100 * time.Millisecond}, {1000, 50 * time.Millisecond}, {20, 30 * time.Millisecond}, {100, time.Second}} {
		all = append(all, scene{name: fmt.Sprintf("no contention, %v/s of %v", c.perSecond, c.mean), bar: 0.99,
			offers: []offer{{lasts: time.Minute, perSecond: c.perSecond, mean: c.mean, times: times}}})
	}
	for _, servers := range []int{1, 4, 16, 64} {
		capacity := float64(servers) / mean.Seconds()
		for _, load := range []float64{0.3, 0.9, 0.95, 1.05, 1.2, 3} {
			s := scene{name: fmt.Sprintf("%d servers, %v of their capacity", servers, load), from: 10, bar: 0.97, offers: []offer{
				{lasts: time.Minute, perSecond: load * capacity, mean: mean, servers: servers, times: times}}}
			if load > 1 {
				// The highest limit, and the slowest requests. Near the capacity, noise may raise the limit that far.
				s.bar, s.p99 = 0.95, time.Duration(defaultMost/capacity*float64(time.Second))+10*mean
			}
			all = append(all, s)
		}
	}
	for _, step := range [][2]time.Duration{{10, 50}, {50, 10}, {20, 200}} {
		from, to := step[0]*time.Millisecond, step[1]*time.Millisecond
		all = append(all, scene{name: fmt.Sprintf("1000/s, from %v to %v", from, to), from: 25, bar: 0.95, offers: []offer{
			{lasts: 20 * time.Second, perSecond: 1000, mean: from, times: times},
			{lasts: 20 * time.Second, perSecond: 1000, mean: to, times: times}}})
	}
	idle := offer{lasts: 30 * time.Second, perSecond: 1, mean: mean, servers: 8, times: times}
	busy := offer{lasts: 30 * time.Second, perSecond: 300, mean: mean, servers: 8, times: times}
	all = append(all, scene{name: "idle, then 0.75 of 8 servers", offers: []offer{idle, busy, idle, busy}, bar: 0.97},
		scene{name: "1000/s of 20ms, pauses of 200ms", bar: 0.95, offers: []offer{{lasts: time.Minute, perSecond: 1000,
			mean: mean, times: times, pause: 200 * time.Millisecond}}})
	return all
}

// run returns the worst part of some seeds, and the longest p99.
func (s *scene) run(seeds []uint64, make func() controller) (part float64, p99 time.Duration) {
	part = math.Inf(1)
	for _, seed := range seeds {
		var arrived, admitted int
		var busy time.Duration
		var all []time.Duration
		seconds := simulate(make(), seed, s.offers...)
		for _, each := range seconds[s.from:] {
			arrived += each.arrived
			admitted += each.served
			busy += each.busy
			all = append(all, each.latencies...)
		}
		slices.Sort(all)
		p99 = max(p99, all[len(all)*99/100])
		o := s.offers[0]
		if capacity := float64(o.servers) / o.mean.Seconds(); o.servers > 0 && o.perSecond > capacity {
			part = min(part, busy.Seconds()/float64(o.servers)/(o.lasts.Seconds()-float64(s.from)))
		} else {
			part = min(part, float64(admitted)/float64(arrived))
		}
	}
	return part, p99
}

var shapes = []struct {
	name  string
	times func(*rand.Rand) float64
}{{"constant", constant}, {"exponential", exponential}, {"lognormal", lognormal}}

// The adaptive limit admits what the service can serve, under noise: all requests without contention, nearly all below
// the capacity, and the capacity in an overload, with a bounded latency.
func TestAdaptiveServesWhatTheServiceCan(t *testing.T) {
	t.Parallel()
	if RaceEnabled {
		t.Skip("make promises simulates without the race detector")
	}
	seeds := []uint64{101}
	if os.Getenv("WEIR_SOAK") != "" {
		seeds = []uint64{102, 103, 104, 105, 106}
	}
	for _, shape := range shapes {
		t.Run(shape.name, func(t *testing.T) {
			t.Parallel()
			for _, s := range scenes(shape.times) {
				part, p99 := s.run(seeds, func() controller { return weir{newAdaptive(0)} })
				if part < s.bar || s.p99 > 0 && p99 > s.p99 {
					t.Errorf("%s: %.1f%% served, p99 %v; want %.0f%% and at most %v", s.name, 100*part, p99, 100*s.bar, s.p99)
				}
			}
		})
	}
}

// traced records the limit after each response.
type traced struct {
	weir
	limits []int
}

func (c *traced) leave(now time.Time, took time.Duration, inFlight int) {
	c.weir.leave(now, took, inFlight)
	c.limits = append(c.limits, c.max())
}

// The limit of an overloaded single server, with windows longer than the time between two trials, falls as long as it
// is too high, and rises when the service has become faster. The highest limit makes no difference.
func TestAdaptiveFallsAndRisesWithASlowService(t *testing.T) {
	t.Parallel()
	slow := offer{lasts: 10 * time.Minute, perSecond: 150, mean: 20 * time.Millisecond, servers: 1}
	fast := offer{lasts: 30 * time.Second, perSecond: 6400, mean: 20 * time.Millisecond, servers: 64}
	for _, shape := range shapes {
		for _, most := range []int{0} {
			slow.times, fast.times = shape.times, shape.times
			c := &traced{weir: weir{newAdaptive(most)}}
			simulate(c, 101, slow)
			if least := slices.Min(c.limits); least > 50 {
				t.Errorf("%s, at most %d: the limit of a single server is %d or more", shape.name, most, least)
			}
			if last := c.limits[len(c.limits)*3/4:]; slices.Min(last) == slices.Max(last) {
				t.Errorf("%s, at most %d: the limit is %d for minutes, without a trial", shape.name, most, last[0])
			}
			c = &traced{weir: weir{newAdaptive(most)}}
			simulate(c, 101, slow, fast)
			if n := c.max(); n < 60 {
				t.Errorf("%s, at most %d: the limit of 64 servers is %d", shape.name, most, n)
			}
		}
	}
}

// TestAdaptiveBesideOthersIsMeasured prints the table of docs/decisions/adaptive-concurrency.md.
func TestAdaptiveBesideOthersIsMeasured(t *testing.T) {
	if os.Getenv("WEIR_LONG") == "" {
		t.Skip("it prints a table; WEIR_LONG=1 runs it")
	}
	var table strings.Builder
	for _, shape := range shapes[1:] {
		for _, s := range scenes(shape.times) {
			fmt.Fprintf(&table, "| %s | %s |", shape.name, s.name)
			for _, make := range []func() controller{func() controller { return weir{newAdaptive(0)} },
				func() controller { return new(gradient2) }, func() controller { return &envoy{measuring: true} }} {
				part, p99 := s.run([]uint64{1, 2, 3, 4, 5}, make)
				fmt.Fprintf(&table, " %.0f%%, %v |", 100*part, p99.Round(10*time.Millisecond))
			}
			table.WriteString("\n")
		}
	}
	t.Logf("\n| times | load | Weir | gradient2 | Envoy |\n|---|---|---|---|---|\n%s", table.String())
}
