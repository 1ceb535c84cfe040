package load

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// An endpoint is a method and a path pattern: targets that differ only in the query, the header or the
// body have the same one.
type endpoint struct {
	method, path string // both "" for all targets that have no endpoint of their own
	targets      int    // the number of targets
	bodyBytes    int64  // of the first of them
}

// mostEndpoints have a latency of their own; the targets of all others share one. A latency takes 0.3 MB in each
// thread.
const mostEndpoints = 20

// setEndpoints finds the endpoints of the targets. Those with most targets have one of their own, which are in the
// order of the targets.
func (p *program) setEndpoints(targets []Target, parsed []*parsedTarget) {
	var all []endpoint
	index := make(map[[2]string]int)
	of := make([]int, len(targets)) // the endpoint of each target
	for i, t := range parsed {
		key := [2]string{t.method, pathPattern(targets[i].URL[t.location.path:])}
		n, ok := index[key]
		if !ok {
			n = len(all)
			index[key] = n
			all = append(all, endpoint{method: key[0], path: key[1], bodyBytes: t.bodyBytes()})
		}
		all[n].targets++
		of[i] = n
	}
	place := p.keepEndpoints(all)
	for i := range p.targets {
		p.targets[i].message.endpoint = int32(place[of[i]])
	}
}

// keepEndpoints sets the endpoints, and returns the place of each of all among them.
func (p *program) keepEndpoints(all []endpoint) (place []int) {
	byTargets := make([]int, len(all))
	for i := range all {
		byTargets[i] = i
	}
	slices.SortStableFunc(byTargets, func(i, j int) int { return cmp.Compare(all[j].targets, all[i].targets) })
	own := len(all)
	if own > mostEndpoints {
		own = mostEndpoints - 1
	}
	chosen := make([]bool, len(all))
	for _, i := range byTargets[:own] {
		chosen[i] = true
	}
	var others endpoint
	place = make([]int, len(all))
	for i, e := range all {
		if !chosen[i] {
			place[i] = own
			others.targets += e.targets
			continue
		}
		place[i] = len(p.endpoints)
		p.endpoints = append(p.endpoints, e)
	}
	if others.targets > 0 {
		p.endpoints = append(p.endpoints, others)
	}
	return place
}

// pathPattern is a path as a target has it, with its templates and without its query.
func pathPattern(path string) string {
	template := false
	for i, c := range path {
		switch {
		case strings.HasPrefix(path[i:], "{{"):
			template = true
		case strings.HasPrefix(path[i:], "}}"):
			template = false
		case !template && (c == '?' || c == '#'):
			path = path[:i]
			return cmp.Or(path, "/")
		}
	}
	return cmp.Or(path, "/")
}

// bodyBytes is the size of the body, before its templates are filled in.
func (p *parsedTarget) bodyBytes() int64 {
	if p.file != nil {
		return p.size
	}
	var n int64
	for _, part := range p.text {
		n += int64(len(part.text))
	}
	return n
}

// requestsHash is the same for plans that send the same requests in the same order, be it to other origins. A body
// from a file counts by its size.
func requestsHash(targets []Target, parsed []*parsedTarget) string {
	h := sha256.New()
	for i, t := range parsed {
		target := &targets[i]
		fmt.Fprintf(h, "%q %q %q %q %d\n", t.method, target.URL[t.location.path:], target.Header, target.Body.Text, target.Body.Size)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// An endpointTally counts the requests to one endpoint.
type endpointTally struct {
	sent, failed, unanswered int64
	classes                  [10]int64 // answered, by the status's first digit
	times                              // as in the recorder's headline
}

// newEndpointTallies returns nil for one endpoint: its tally is that of the run.
func newEndpointTallies(endpoints []endpoint) []endpointTally {
	if len(endpoints) == 1 {
		return nil
	}
	tallies := make([]endpointTally, len(endpoints))
	for i := range tallies {
		tallies[i].times = newTimes()
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
	t.times.merge(&o.times)
}

// result returns the tally as a Result has it.
func (t *endpointTally) result(e endpoint, open bool) TargetResult {
	r := TargetResult{
		Method: e.method, Path: e.path, Targets: e.targets, BodyBytes: e.bodyBytes,
		Sent: t.sent, Failed: t.failed, Unanswered: t.unanswered, Status: make(map[string]int64),
	}
	for class, n := range t.classes {
		if n > 0 {
			r.Requests += n
			r.Status[className(class)] = n
		}
	}
	times := t.times.order()
	if open {
		r.LatencyFromDue = times.document()
	} else {
		r.Latency = times.document()
	}
	return r
}

// mergeEndpoints adds the tallies of another thread.
func (r *recorder) mergeEndpoints(tallies []endpointTally) {
	if r.endpoints == nil {
		r.endpoints = tallies
		return
	}
	for i := range tallies {
		r.endpoints[i].merge(&tallies[i])
	}
}

// setTargets sets the Result's part that is about the requests of the plan.
func (r *recorder) setTargets(res *Result, p *program, open bool) {
	first := p.targets[0].message.endpoint
	res.Method, res.BodyBytes, res.RequestsHash = p.endpoints[first].method, p.endpoints[first].bodyBytes, p.hash
	if r.endpoints == nil {
		only := p.endpoints[0]
		res.Targets = []TargetResult{{
			Method: only.method, Path: only.path, Targets: only.targets, BodyBytes: only.bodyBytes,
			Sent: res.Sent, Requests: res.Requests, Failed: res.Failed, Unanswered: res.Unanswered, Status: res.Status,
		}}
		return
	}
	for i := range r.endpoints {
		res.Targets = append(res.Targets, r.endpoints[i].result(p.endpoints[i], open))
	}
}
