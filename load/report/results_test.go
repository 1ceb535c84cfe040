package report_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/weirhq/weir/load"
	"github.com/weirhq/weir/load/internal/hdr"
)

// began is the start of all results.
var began = time.Date(2026, 11, 22, 9, 30, 0, 0, time.UTC)

// at returns the value of a histogram with the rank that is nearest to a percentile.
func at(h *hdr.Histogram, percentile float64) int64 {
	return h.At(int64(percentile/100*float64(h.Count()) + 0.5))
}

// latency returns the latency of a histogram of nanoseconds.
func latency(h *hdr.Histogram) *load.Latency {
	us := func(percentile float64) load.Micros { return load.Micros(at(h, percentile)) / 1e3 }
	mean, deviation := h.Moments()
	return &load.Latency{
		Unit: "us", Count: h.Count(), Min: load.Micros(h.Min()) / 1e3,
		P2_5: us(2.5), P50: us(50), P90: us(90), P97_5: us(97.5), P99: us(99), P999: us(99.9), P9999: us(99.99),
		Max: load.Micros(h.Max()) / 1e3, Mean: load.Micros(mean / 1e3), Stdev: load.Micros(deviation / 1e3),
		Histogram: h.Encode(),
	}
}

// second returns a second of a series.
func second(start int, asked int64, h *hdr.Histogram) load.Second {
	us := func(percentile float64) load.Micros { return load.Micros(at(h, percentile)) / 1e3 }
	return load.Second{
		Start: float64(start), Seconds: 1, Asked: asked, Sent: asked, Requests: h.Count(),
		Bytes: 412 * h.Count(),
		P50:   us(50), P90: us(90), P99: us(99), Max: us(100), Connections: 64,
	}
}

// closedResult is a run of the closed loop with a few failures.
func closedResult(t testing.TB) *load.Result {
	random := rand.New(rand.NewPCG(1, 2))
	all, bad := hdr.New(), hdr.New()
	r := &load.Result{
		Started: began, URL: "http://127.0.0.1:20000/hello", Protocol: "HTTP/1.1",
		Connections: 64, ConnectionsMade: 73, Pipeline: 1, Threads: 2,
		Status: map[string]int64{}, StatusCodes: map[string]int64{}, Errors: map[string]int64{"timeout": 7, "reset": 2},
		ErrorExamples: map[string]string{
			"timeout": "no response within 10s",
			"reset":   "read tcp 127.0.0.1:51234->127.0.0.1:20000: read: connection reset by peer",
		},
		Machine: load.Machine{System: "linux/amd64", Kernel: "6.12.0", Processor: "Example 9000", CPUs: 2,
			Go: "go1.26.0"},
		Generator: load.Generator{CPUSeconds: 3.2, Busy: 0.31, Waited: 0.012, PeakRSS: 21 << 20},
		Server: &load.ServerProcess{PID: 4711, Command: "weir serve --config weir.yaml", CPUSeconds: 24.6,
			PeakRSS: 48 << 20},
	}
	for at := range 20 {
		h := hdr.New()
		n := 4000 + random.IntN(300) - 100*(at%7)
		for range n {
			ns := 1.1e6 * math.Exp(0.45*random.NormFloat64())
			if random.Float64() < 0.004 {
				ns += 2e6 + 30e6*random.Float64()*random.Float64()
			}
			h.Record(int64(ns), 1)
			if at == 12 && random.Float64() < 0.05 {
				bad.Record(int64(ns/3), 1)
			}
		}
		r.Series = append(r.Series, second(at, int64(n), h))
		all.Merge(h)
		if at == 12 {
			r.Series[at].Errors = 9
		}
	}
	n := all.Count()
	r.Latency = latency(all)
	r.Asked, r.Sent, r.Requests, r.Failed = n+9, n+9, n, 9
	r.Status["2xx"], r.Status["5xx"] = n-bad.Count(), bad.Count()
	r.StatusCodes["200"], r.StatusCodes["503"], r.StatusCodes["502"] = r.Status["2xx"], r.Status["5xx"]-3, 3
	good := hdr.New()
	good.Merge(all)
	r.LatencyByStatus = map[string]*load.Latency{"2xx": latency(good), "5xx": latency(bad)}
	finish(t, r, 20)
	return r
}

// finish sets the derived values.
func finish(t testing.TB, r *load.Result, seconds float64) {
	r.DurationSeconds = seconds
	r.BytesRead, r.BytesWritten = 412*r.Requests, 96*r.Sent
	r.RequestsPerSecond, r.BytesPerSecond = float64(r.Requests)/seconds, float64(r.BytesRead)/seconds
	connect := hdr.New()
	for i := range min(r.ConnectionsMade, 1000) {
		connect.Record(int64(60e3+1e3*float64(i%70)), 1)
	}
	r.Connect, r.FirstByte = latency(connect), r.Latency
	if r.Server == nil {
		return
	}
	random := rand.New(rand.NewPCG(3, 4))
	for at := 0.05; at < seconds; at += 0.05 {
		r.Server.Samples = append(r.Server.Samples, load.ServerSample{
			At: at, CPU: 1.2 + 0.2*math.Sin(at/3) + 0.1*random.Float64(),
			RSS: 30<<20 + int64(18*(1<<20)*at/seconds), Files: 80, Threads: 9,
		})
	}
}

// stalledResult is a run of the open loop, at 2,000 requests per second,
// against a server that stalls for one second in ten. Requests that are due in
// that second wait for its end. Latencies from sent, on 64 connections, hardly
// show it.
func stalledResult(t testing.TB) *load.Result {
	const perSecond = 2000
	random := rand.New(rand.NewPCG(5, 6))
	due, sent, lag := hdr.New(), hdr.New(), hdr.New()
	r := &load.Result{
		Started: began, URL: "https://127.0.0.1:20443/stalls", Protocol: "HTTP/1.1",
		Connections: 64, ConnectionsMade: 64, Pipeline: 1, Threads: 2, Errors: map[string]int64{},
		Generator: load.Generator{CPUSeconds: 1.9, Busy: 0.12, Waited: 0.003, PeakRSS: 19 << 20},
	}
	for at := range 30 {
		h := hdr.New()
		for i := range perSecond {
			service := 150e3 * math.Exp(0.3*random.NormFloat64())
			wait, late := 0.0, 8e3*math.Exp(0.5*random.NormFloat64())
			if at%10 == 5 {
				wait = 1e9 * (1 - float64(i)/perSecond)
				r.Late++
			}
			h.Record(int64(service+wait+late), 1)
			lag.Record(int64(wait+late), 1)
			if wait > 0 && i < 64 {
				sent.Record(int64(service+wait), 1)
			} else {
				sent.Record(int64(service), 1)
			}
		}
		due.Merge(h)
		r.Series = append(r.Series, second(at, perSecond, h))
	}
	n := due.Count()
	r.LatencyFromDue, r.Latency = latency(due), latency(sent)
	r.Asked, r.Sent, r.Requests, r.Unsent = n+12, n, n, 12
	r.UnsentFor = map[string]int64{"ended": 12}
	r.LateFor = map[string]int64{"connections": r.Late}
	r.Status, r.StatusCodes = map[string]int64{"2xx": n}, map[string]int64{"200": n}
	finish(t, r, 30)
	r.TLSHandshake = r.Connect
	r.Pacing = &load.Pacing{AskedPerSecond: perSecond, SentPerSecond: 1999.6, Lag: latency(lag), Variance10ms: 12.4,
		Mean10ms: 20}
	r.Saturated = true
	r.Warnings = []string{
		"the generator's threads waited 18% of the time for a CPU: the server beside it has too few, or the " +
			"generator has",
		"64 connections were in use at once and no more were allowed: what waited for one is counted from due alone",
	}
	return r
}

// outageResult is a run of the open loop in which one request in ten has no
// response: most of these were given up after 10 s, and some were reset.
func outageResult(t testing.TB) *load.Result {
	const perSecond = 100
	random := rand.New(rand.NewPCG(9, 10))
	answered, all := hdr.New(), hdr.New()
	r := &load.Result{
		Started: began, URL: "http://127.0.0.1:20000/search", Protocol: "HTTP/1.1",
		Connections: 160, ConnectionsMade: 360, Pipeline: 1, Threads: 2, Errors: map[string]int64{},
		ErrorExamples: map[string]string{"timeout": "no whole response in time: i/o timeout",
			"reset": "reading the response: connection reset by peer"},
		Generator: load.Generator{CPUSeconds: 0.4, Busy: 0.01, Waited: 0.003, PeakRSS: 19 << 20},
	}
	for at := range 30 {
		h := hdr.New()
		for i := range perSecond {
			service := 2e6 * math.Exp(0.3*random.NormFloat64())
			switch {
			case i%10 != 0:
				h.Record(int64(service), 1)
			case i == 50 && at%10 == 9:
				r.Errors["reset"]++
			case at >= 10:
				r.Errors["timeout"]++
				all.Record(int64(10e9+service), 1)
			}
		}
		answered.Merge(h)
		s := second(at, perSecond, h)
		if at >= 10 {
			s.P99, s.Max, s.Errors = 10e6, 10.01e6, 10
		}
		if at%10 == 9 {
			s.Max, s.Errors = load.NeverAnswered, s.Errors+1
		}
		r.Series = append(r.Series, s)
	}
	all.Merge(answered)
	l := latency(all)
	l.Answered, l.GivenUp, l.NeverAnswered = latency(answered), r.Errors["timeout"], r.Errors["reset"]
	l.Count += l.NeverAnswered
	l.P9999, l.Max, l.Mean, l.Stdev = load.NeverAnswered, load.NeverAnswered, load.NeverAnswered, load.NeverAnswered
	l.AtLeast, l.TooFew = []string{"p97_5", "p99", "p999"}, []string{"p999", "p9999"}
	r.Latency, r.LatencyFromDue = l, l
	r.Requests = answered.Count()
	r.Failed = l.GivenUp + l.NeverAnswered
	r.Asked, r.Sent = l.Count, l.Count
	r.Status, r.StatusCodes = map[string]int64{"2xx": r.Requests}, map[string]int64{"200": r.Requests}
	finish(t, r, 30)
	r.FirstByte = l.Answered
	half := func(method, path string, latency *load.Latency) load.TargetResult {
		n := latency.Count - latency.GivenUp - latency.NeverAnswered
		return load.TargetResult{Method: method, Path: path, Targets: 1, Sent: latency.Count, Requests: n,
			Status: map[string]int64{"2xx": n}, LatencyFromDue: latency}
	}
	r.Targets = []load.TargetResult{
		half("GET", "/search", l), half("POST", "/users/{{rand 1 1000}}/orders", l.Answered), {Targets: 7,
			Status: map[string]int64{}},
	}
	r.Pacing = &load.Pacing{AskedPerSecond: perSecond, SentPerSecond: perSecond, Mean10ms: 1, Variance10ms: 0.1}
	return r
}

// refusedResult is a run without a response.
func refusedResult() *load.Result {
	return &load.Result{
		Started: began, URL: "http://127.0.0.1:1/", Protocol: "HTTP/1.1", Connections: 0, Pipeline: 1, Threads: 1,
		Asked: 64, Unsent: 64, UnsentFor: map[string]int64{"no_connection": 64},
		Errors:          map[string]int64{"refused": 64},
		ErrorExamples:   map[string]string{"refused": "dial tcp 127.0.0.1:1: connect: connection refused"},
		DurationSeconds: 0.004,
	}
}

// oneResult is a run of one request.
func oneResult(t testing.TB) *load.Result {
	h := hdr.New()
	h.Record(int64(812_345), 1)
	r := &load.Result{
		Started: began, URL: "http://127.0.0.1:20000/", Protocol: "HTTP/2", Connections: 1, ConnectionsMade: 1,
		Pipeline: 1, Threads: 1,
		Asked: 1, Sent: 1, Requests: 1, Latency: latency(h),
		Status: map[string]int64{"2xx": 1}, StatusCodes: map[string]int64{"204": 1},
	}
	r.Series = []load.Second{second(0, 1, h)}
	r.Series[0].Seconds = 0.001
	finish(t, r, 0.001)
	return r
}

// hugeResult is a run of an hour with billions of responses, the last of which
// took an hour.
func hugeResult(t testing.TB) *load.Result {
	random := rand.New(rand.NewPCG(7, 8))
	due := hdr.New()
	for i := range 5000 {
		due.Record(int64(20e3*math.Exp(1.5*random.NormFloat64())), 4_000_000-int64(700*i))
	}
	due.Record(int64(float64(time.Hour)), 2)
	r := &load.Result{
		Started: began, URL: "http://127.0.0.1:20000/?q=" + longWord, Protocol: "HTTP/1.1",
		Connections: 10_000, ConnectionsMade: 1_234_567, Pipeline: 12, Threads: 64,
		LatencyFromDue: latency(due), Latency: latency(due), Errors: map[string]int64{"timeout": 1},
		Pacing:    &load.Pacing{AskedPerSecond: 1.2e6, SentPerSecond: 1.2e6, Mean10ms: 12000, Variance10ms: 80000},
		Generator: load.Generator{CPUSeconds: 123456, Busy: 1, Waited: 0.5, PeakRSS: 3 << 40},
	}
	for at := range 3600 {
		r.Series = append(r.Series, load.Second{
			Start: float64(at), Seconds: 1, Asked: 1_200_000, Sent: 1_200_000,
			Requests: 1_200_000 + int64(200_000*math.Sin(float64(at)/900)), Bytes: 9e9,
			P50: 20, P90: 140, P99: load.Micros(600 + 300*math.Cos(float64(at)/300)), Max: load.Micros(9000 +
				8000*random.Float64()),
		})
	}
	r.Series[2777].Max = 3.6e9
	n := due.Count()
	r.Asked, r.Sent, r.Requests, r.Failed = n+1, n+1, n, 1
	r.Status, r.StatusCodes = map[string]int64{"2xx": n}, map[string]int64{}
	for code := 200; code < 260; code++ {
		r.StatusCodes[string([]byte{'2', byte('0' + code/10%10), byte('0' + code%10)})] = n / 60
	}
	finish(t, r, 3600)
	return r
}

// mergedResult is a result of four agents, of which one was lost, one was saturated, and
// the machine of one was busy.
func mergedResult(t testing.TB) *load.Result {
	r := closedResult(t)
	r.Generator = load.Generator{CPUSeconds: 41.2, Busy: 0.97, Waited: 0.01, PeakRSS: 90 << 20}
	r.Generators = []load.GeneratorShare{
		{Share: load.Share{Number: 1, Of: 4}, Agent: "load-a", Sent: 12_000_000, RequestsPerSecond: 400_000,
			DurationSeconds: 30, Connections: 16, Machine: load.Machine{CPUs: 8},
			Generator: load.Generator{CPUSeconds: 20, Busy: 0.61}},
		{Share: load.Share{Number: 2, Of: 4}, Agent: "load-b", Lost: "no message for 5 s", Sent: 4_000,
			RequestsPerSecond: 800, DurationSeconds: 5, Connections: 16, Machine: load.Machine{CPUs: 8}},
		{Share: load.Share{Number: 3, Of: 4}, Agent: "load-c", Sent: 90_000, RequestsPerSecond: 3_000, DurationSeconds: 30,
			Connections: 16, Saturated: true, Machine: load.Machine{CPUs: 2},
			Generator: load.Generator{CPUSeconds: 3, Busy: 0.2, Waited: 0.3}},
		{Share: load.Share{Number: 4, Of: 4}, Agent: "an-agent-with-a-rather-long-name.zone-b.example", Sent: 6_000,
			RequestsPerSecond: 200, DurationSeconds: 30, Connections: 16, Saturated: true, Machine: load.Machine{CPUs: 1},
			Generator: load.Generator{CPUSeconds: 21.2, Busy: 0.97}},
	}
	r.Warnings = []string{"agent load-b (share 2/4) was lost after 5.0 s: no message for 5 s; its requests under way are not counted"}
	return r
}
