package load

import (
	"github.com/weirhq/weir/load/internal/latencies"
	"github.com/weirhq/weir/load/internal/program"
)

// An endpointTally counts the requests of one endpoint.
type endpointTally struct {
	sent, failed, unanswered int64
	classes                  [10]int64 // answered, by the status's first digit
	latencies.Times                    // as in the recorder's headline
}

// newEndpointTallies returns nil for one endpoint, whose tally is that of the run.
func newEndpointTallies(endpoints []program.Endpoint) []endpointTally {
	if len(endpoints) == 1 {
		return nil
	}
	tallies := make([]endpointTally, len(endpoints))
	for i := range tallies {
		tallies[i].Times = latencies.NewTimes()
	}
	return tallies
}

func (t *endpointTally) merge(o *endpointTally) {
	t.sent += o.sent
	t.failed += o.failed
	t.unanswered += o.unanswered
	for class, n := range o.classes {
		t.classes[class] += n
	}
	t.Times.Merge(&o.Times)
}

func (t *endpointTally) reset() {
	t.Times.Reset()
	*t = endpointTally{Times: t.Times}
}

// result returns the tally for a Result.
func (t *endpointTally) result(e program.Endpoint, open bool) TargetResult {
	r := TargetResult{
		Method: e.Method, Path: e.Path, Targets: e.Targets, BodyBytes: e.BodyBytes,
		Sent: t.sent, Failed: t.failed, Unanswered: t.unanswered, Status: make(map[string]int64),
	}
	for class, n := range t.classes {
		if n > 0 {
			r.Requests += n
			r.Status[className(class)] = n
		}
	}
	times := t.Times.Order()
	if open {
		r.LatencyFromDue = newLatency(times)
	} else {
		r.Latency = newLatency(times)
	}
	return r
}

// setTargets sets the Result's fields about targets.
func (m *measures) setTargets(res *Result, p *program.Program, open bool) {
	first := p.First()
	res.Method, res.BodyBytes, res.RequestsHash = first.Method, first.BodyBytes, p.Hash
	if m.endpoints == nil {
		only := p.Endpoints[0]
		res.Targets = []TargetResult{{
			Method: only.Method, Path: only.Path, Targets: only.Targets, BodyBytes: only.BodyBytes,
			Sent: res.Sent, Requests: res.Requests, Failed: res.Failed, Unanswered: res.Unanswered, Status: res.Status,
		}}
		return
	}
	for i := range m.endpoints {
		res.Targets = append(res.Targets, m.endpoints[i].result(p.Endpoints[i], open))
	}
}
