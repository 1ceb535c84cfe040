package load

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/weirhq/weir/load/internal/record"
	"github.com/weirhq/weir/load/pace"
)

// Merge returns the result of the whole plan of which the results are shares, in any
// order. Counts, histograms and exact extremes are as from a run on one machine. Shares
// that are missing are a warning. Errors are of type [*MergeError].
func Merge(shares []*Result) (*Result, error) {
	if err := mergeable(shares); err != nil {
		return nil, err
	}
	shares = slices.SortedFunc(slices.Values(shares), func(a, b *Result) int {
		return cmp.Compare(a.Share.Number, b.Share.Number)
	})
	first := shares[0]
	m := &merger{shares: shares, sum: &Result{
		Started: first.Share.StartAt.Add(first.warmUp()), URL: first.URL, Unix: first.Unix, Method: first.Method, BodyBytes: first.BodyBytes,
		Protocol: first.Protocol, Pace: first.Pace, Pipeline: first.Pipeline, TimeoutSeconds: first.TimeoutSeconds,
		Seed: first.Seed, RequestsHash: first.RequestsHash, Version: first.Version, Machine: first.Machine,
		UnsentFor: map[string]int64{}, LateFor: map[string]int64{}, Status: map[string]int64{},
		StatusCodes: map[string]int64{}, WrongStatusCodes: map[string]int64{}, Expect: first.Expect, Errors: map[string]int64{}, ErrorExamples: map[string]string{},
		LatencyByStatus: map[string]*Latency{}, Log: first.Log, // each share has read all of it
	}}
	m.addCounts()
	m.addLatencies()
	m.addTargets()
	m.addPacing()
	var err error
	m.sum.Series, err = mergeSeries(shares)
	if err = cmp.Or(m.err, err); err != nil {
		return nil, err
	}
	m.judge()
	return m.sum, nil
}

// A MergeError reports why results cannot be merged.
type MergeError struct {
	A, B int // indexes of the results; equal if the reason concerns one
	Why  string
}

func (e *MergeError) Error() string {
	if e.A == e.B {
		return fmt.Sprintf("load: result %d %s", e.A+1, e.Why)
	}
	return fmt.Sprintf("load: results %d and %d %s", e.A+1, e.B+1, e.Why)
}

// mergeable checks that the results are different shares of one plan.
func mergeable(shares []*Result) error {
	if len(shares) == 0 {
		return &MergeError{Why: "is missing"}
	}
	first := shares[0]
	numbers := make(map[int]int) // the index of each share
	for i, r := range shares {
		switch {
		case len(r.Generators) > 0:
			return &MergeError{i, i, "is merged already"}
		case r.Share == nil:
			return &MergeError{i, i, "belongs to a whole plan, not to a share"}
		case !r.Share.valid():
			return &MergeError{i, i, fmt.Sprintf("has no valid share: %v", r.Share.Share)}
		case !r.addsUp():
			return &MergeError{i, i, "is damaged: the numbers of its requests do not add up"}
		case !r.Share.StartAt.Equal(first.Share.StartAt):
			return &MergeError{0, i, fmt.Sprintf("did not start at the same time: %s and %s", instant(first), instant(r))}
		}
		for _, p := range planProperties {
			if a, b := fmt.Sprint(p.of(first)), fmt.Sprint(p.of(r)); a != b {
				return &MergeError{0, i, fmt.Sprintf("are of different plans: %s %s and %s", p.name, a, b)}
			}
		}
		if other, ok := numbers[r.Share.Number]; ok {
			return &MergeError{other, i, fmt.Sprintf("are both share %v", r.Share.Share)}
		}
		numbers[r.Share.Number] = i
	}
	return nil
}

// addsUp reports whether the numbers of requests and of their latencies agree.
func (r *Result) addsUp() bool {
	fits := func(l *Latency, answered int64) bool {
		return l == nil || l.Count-l.GivenUp-l.NeverAnswered == answered
	}
	ok := r.Asked == r.Sent+r.Unsent && r.Sent == r.Requests+r.Failed+r.Unanswered && min(r.Requests, r.Sent) >= 0 &&
		fits(r.Latency, r.Requests) && fits(r.LatencyFromDue, r.Requests)
	for _, t := range r.Targets {
		ok = ok && fits(t.Latency, t.Requests)
	}
	return ok
}

func instant(r *Result) string { return r.Share.StartAt.Format(time.RFC3339Nano) }

// planProperties are equal in all shares of a plan.
var planProperties = []struct {
	name string
	of   func(*Result) any
}{
	{"URL", func(r *Result) any { return r.URL }},
	{"pace", func(r *Result) any { return r.Pace }},
	{"expectations", func(r *Result) any { return r.Expect }},
	{"protocol", func(r *Result) any { return r.Protocol }},
	{"requests with hash", func(r *Result) any { return r.RequestsHash }},
	{"seed", func(r *Result) any { return r.Seed }},
	{"number of targets", func(r *Result) any { return len(r.Targets) }},
	{"warm-up", func(r *Result) any { return r.warmUp() }},
	{"number of shares", func(r *Result) any { return r.Share.Of }},
	{"connections", func(r *Result) any { return r.Share.Connections }},
	{"most connections", func(r *Result) any { return r.Share.MaxConnections }},
	{"pipeline", func(r *Result) any { return r.Pipeline }},
	{"duration", func(r *Result) any { return seconds(r.Share.DurationSeconds) }},
	{"number of requests", func(r *Result) any { return r.Share.Requests }},
	{"timeout", func(r *Result) any { return seconds(r.TimeoutSeconds) }},
	{"backlog", func(r *Result) any { return r.Share.Backlog }},
	{"new connection for each request", func(r *Result) any { return r.Share.NoKeepAlive }},
}

// seconds returns a number of seconds as a time.Duration.
func seconds(s float64) time.Duration { return time.Duration(math.Round(s * 1e9)) }

// warmUp returns the length of the warm-up.
func (r *Result) warmUp() time.Duration {
	if r.WarmUp == nil {
		return 0
	}
	return seconds(r.WarmUp.Seconds)
}

// add adds the counts of another share; nil is none.
func (w *WarmUpResult) add(o *WarmUpResult) *WarmUpResult {
	if o == nil {
		return w
	}
	if w == nil {
		w = &WarmUpResult{Seconds: o.Seconds}
	}
	w.Asked += o.Asked
	w.Sent += o.Sent
	w.Requests += o.Requests
	w.Failed += o.Failed
	return w
}

// A merger adds shares up.
type merger struct {
	shares []*Result
	sum    *Result
	err    error // the first one; later steps need not check
}

// addCounts adds everything but latencies.
func (m *merger) addCounts() {
	s := m.sum
	var inTime, bytesInTime float64
	for _, r := range m.shares {
		s.Asked += r.Asked
		s.Sent += r.Sent
		s.Unsent += r.Unsent
		s.Requests += r.Requests
		s.Failed += r.Failed
		s.Unanswered += r.Unanswered
		s.Late += r.Late
		s.BytesRead += r.BytesRead
		s.BytesWritten += r.BytesWritten
		s.Connections += r.Connections
		s.ConnectionsMade += r.ConnectionsMade
		s.Threads += r.Threads
		s.WarmUp = s.WarmUp.add(r.WarmUp)
		addTo(s.UnsentFor, r.UnsentFor)
		addTo(s.LateFor, r.LateFor)
		addTo(s.Status, r.Status)
		addTo(s.StatusCodes, r.StatusCodes)
		s.Wrong += r.Wrong
		addTo(s.WrongStatusCodes, r.WrongStatusCodes)
		addTo(s.Errors, r.Errors)
		for kind, text := range r.ErrorExamples {
			s.ErrorExamples[kind] = cmp.Or(s.ErrorExamples[kind], text)
		}
		s.CertificateRefused = s.CertificateRefused || r.CertificateRefused
		s.Interrupted = s.Interrupted || r.Interrupted
		inTime += r.RequestsPerSecond * r.DurationSeconds
		bytesInTime += r.BytesPerSecond * r.DurationSeconds
		s.DurationSeconds = max(s.DurationSeconds, r.DurationSeconds)
		s.Generator.CPUSeconds += r.Generator.CPUSeconds
		s.Generator.PeakRSS += r.Generator.PeakRSS
		s.Generator.Busy = max(s.Generator.Busy, r.Generator.Busy)
		s.Generator.Waited = max(s.Generator.Waited, r.Generator.Waited)
		s.Generators = append(s.Generators, generatorShare(r))
		s.Points = append(s.Points, r.Points...)
		// Several generators on the server's machine sample one process.
		if r.Server != nil && (s.Server == nil || len(r.Server.Samples) > len(s.Server.Samples)) {
			s.Server = r.Server
		}
	}
	slices.SortStableFunc(s.Points, func(a, b Point) int { return cmp.Compare(a.At, b.At) })
	length := max(s.DurationSeconds, 1e-9)
	s.RequestsPerSecond, s.BytesPerSecond = math.Round(inTime)/length, math.Round(bytesInTime)/length
}

func addTo(sum, counts map[string]int64) {
	for name, n := range counts {
		sum[name] += n
	}
}

func generatorShare(r *Result) GeneratorShare {
	return GeneratorShare{
		Share: r.Share.Share, Agent: r.Share.Agent, Lost: r.Share.Lost, ClockOffset: r.Share.ClockOffset,
		ClockError: r.Share.ClockError, Asked: r.Asked, Sent: r.Sent, Requests: r.Requests,
		RequestsPerSecond: r.RequestsPerSecond, DurationSeconds: r.DurationSeconds, Threads: r.Threads,
		Connections: r.Connections, Saturated: r.Saturated, Generator: r.Generator, Machine: r.Machine,
	}
}

// latency merges one latency of all shares; nil if none has it.
func (m *merger) latency(of func(*Result) *Latency) *Latency {
	var all []*Latency
	for _, r := range m.shares {
		if l := of(r); l != nil {
			all = append(all, l)
		}
	}
	if len(all) == 0 { // an empty distribution needs 0.3 MB
		return nil
	}
	o, err := mergeOrders(all)
	if err != nil {
		m.err = cmp.Or(m.err, err)
		return nil
	}
	return newLatency(o)
}

func (m *merger) addLatencies() {
	s := m.sum
	s.Latency = m.latency(func(r *Result) *Latency { return r.Latency })
	s.LatencyFromDue = m.latency(func(r *Result) *Latency { return r.LatencyFromDue })
	s.FirstByte = m.latency(func(r *Result) *Latency { return r.FirstByte })
	s.Connect = m.latency(func(r *Result) *Latency { return r.Connect })
	s.TLSHandshake = m.latency(func(r *Result) *Latency { return r.TLSHandshake })
	s.StreamWait = m.latency(func(r *Result) *Latency { return r.StreamWait })
	for class := range s.Status {
		s.LatencyByStatus[class] = m.latency(func(r *Result) *Latency { return r.LatencyByStatus[class] })
	}
}

// addTargets adds the targets, which are the same in all shares.
func (m *merger) addTargets() {
	for i, first := range m.shares[0].Targets {
		sum := TargetResult{Step: first.Step, Method: first.Method, Path: first.Path, Targets: first.Targets, BodyBytes: first.BodyBytes,
			Status: map[string]int64{}}
		for _, r := range m.shares {
			t := r.Targets[i]
			sum.Sent += t.Sent
			sum.Requests += t.Requests
			sum.Failed += t.Failed
			sum.Unanswered += t.Unanswered
			addTo(sum.Status, t.Status)
		}
		sum.Latency = m.latency(func(r *Result) *Latency { return r.Targets[i].Latency })
		sum.LatencyFromDue = m.latency(func(r *Result) *Latency { return r.Targets[i].LatencyFromDue })
		m.sum.Targets = append(m.sum.Targets, sum)
	}
}

// addPacing adds the pacing of the open loop.
func (m *merger) addPacing() {
	if m.shares[0].Pacing == nil {
		return
	}
	schedule, err := pace.Parse(m.sum.Pace)
	if err != nil {
		m.err = cmp.Or(m.err, fmt.Errorf("load: %w", err))
		return
	}
	p := &Pacing{Lag: m.latency(func(r *Result) *Latency { return r.Pacing.Lag })}
	m.sum.Pacing = p
	var inTime float64
	var bins record.Bins
	present := 0
	for _, r := range m.shares {
		inTime += r.Pacing.SentPerSecond * r.DurationSeconds
		if r.Share.Lost == "" { // a lost one did not report its bins
			bins.Merge(&record.Bins{Counts: r.Pacing.Sent10ms})
			present++
		}
	}
	length := m.sum.DurationSeconds
	if length > 0 {
		p.AskedPerSecond, p.SentPerSecond = m.asked(schedule)/length, math.Round(inTime)/length
	}
	if schedule.Speed > 0 { // it is not known when how many requests of a log are due
		return
	}
	p.Mean10ms, p.Variance10ms = bins.Variance(schedule.Scaled(present, m.shares[0].Share.Of), seconds(length))
}

// asked returns the number of requests that the whole plan asked for. That of missing
// shares is the expected one.
func (m *merger) asked(p pace.Pace) float64 {
	if m.whole() || p.Speed > 0 {
		return float64(m.sum.Asked)
	}
	expected := p.DueUntil(seconds(m.sum.DurationSeconds))
	if n := m.shares[0].Share.Requests; n > 0 {
		expected = min(expected, float64(n))
	}
	return expected
}

// whole reports whether each share of the plan has a complete result.
func (m *merger) whole() bool {
	lost := slices.ContainsFunc(m.shares, func(r *Result) bool { return r.Share.Lost != "" })
	return !lost && len(m.shares) == m.shares[0].Share.Of
}

// judge sets Saturated and the warnings.
func (m *merger) judge() {
	s := m.sum
	for _, r := range m.shares {
		if lost := r.Share.Lost; lost != "" {
			s.warn("%s was lost after %.1f s: %s; its requests under way are not counted", r.Share.title(),
				r.DurationSeconds, lost)
		}
		for _, doubt := range r.saturation() {
			s.Saturated = true
			s.warn("%s: %s", r.Share.title(), doubt)
		}
	}
	if missing := m.missing(); len(missing) > 0 {
		s.warn("the result is of %d of the plan's %d shares; missing: %s", len(m.shares), m.shares[0].Share.Of,
			strings.Join(missing, ", "))
	}
	s.judge(m.shares[0].Share.MaxConnections)
	s.warnAboutWarmUp()
	s.warnAboutLog()
}

// title names the share and its generator for a warning.
func (s *ShareResult) title() string {
	if s.Agent == "" {
		return fmt.Sprintf("share %v", s.Share)
	}
	return fmt.Sprintf("agent %s (share %v)", s.Agent, s.Share)
}

// missing returns the first shares without a result, and "..." if there are more.
func (m *merger) missing() (texts []string) {
	const most = 20
	of := m.shares[0].Share.Of
	for n := 1; n <= of; n++ {
		if slices.ContainsFunc(m.shares, func(r *Result) bool { return r.Share.Number == n }) {
			continue
		}
		if len(texts) == most {
			return append(texts, "...")
		}
		texts = append(texts, Share{n, of}.String())
	}
	return texts
}
