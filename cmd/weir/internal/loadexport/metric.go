package loadexport

import (
	"cmp"
	"maps"
	"slices"

	"github.com/weirhq/weir/load"
)

// A kind is the kind of a metric.
type kind uint8

const (
	counter   kind = iota // of the whole run so far
	gauge                 // of the last second
	histogram             // of the whole run so far, by load.LatencyBounds
)

// A metric has the points of one name.
type metric struct {
	name   string // as in OpenTelemetry
	unit   string // of UCUM
	kind   kind
	points []point
}

// A point is the value of a series.
type point struct {
	labels []label
	value  float64 // the count of a counter, the sum of a histogram
	counts []int64 // of a histogram, for each bound and above all
}

// metrics returns the metrics of the run so far.
func metrics(r *load.Result) ([]metric, error) {
	requests := metric{"weir.load.requests", "{request}", counter,
		outcomes(nil, r.Requests, r.Failed, r.Unanswered)}
	requests.add(float64(r.Unsent), label{"outcome", "unsent"})
	responses := metric{name: "weir.load.responses", unit: "{response}"}
	for _, code := range slices.Sorted(maps.Keys(responsesOf(r))) {
		responses.add(float64(r.StatusCodes[code]+r.WrongStatusCodes[code]), label{"status", code})
	}
	failures := metric{name: "weir.load.errors", unit: "{error}"}
	for _, kind := range slices.Sorted(maps.Keys(r.Errors)) {
		failures.add(float64(r.Errors[kind]), label{"kind", kind})
	}
	io := metric{name: "weir.load.io", unit: "By"}
	io.add(float64(r.BytesRead), label{"direction", "read"})
	io.add(float64(r.BytesWritten), label{"direction", "written"})
	latency := metric{name: "weir.load.latency", unit: "s", kind: histogram}
	if err := latency.addLatency(cmp.Or(r.LatencyFromDue, r.Latency), from(r)); err != nil {
		return nil, err
	}
	all := append([]metric{requests, responses, failures, io, latency}, ofSecond(r)...)
	if len(r.Targets) > 1 {
		targets, err := ofTargets(r)
		return append(all, targets...), err
	}
	return all, nil
}

// points returns the number of points.
func points(all []metric) (n int) {
	for _, m := range all {
		n += len(m.points)
	}
	return n
}

// add adds a point.
func (m *metric) add(value float64, labels ...label) {
	m.points = append(m.points, point{labels: labels, value: value})
}

// addLatency adds a point of a histogram. Without a request l is nil.
func (m *metric) addLatency(l *load.Latency, labels ...label) error {
	counts, seconds, err := l.Buckets()
	if counts != nil {
		m.points = append(m.points, point{labels: labels, value: seconds, counts: counts})
	}
	return err
}

// outcomes returns the numbers of requests by outcome, with the labels of a target.
func outcomes(target []label, answered, failed, unanswered int64) []point {
	with := func(outcome string) []label { return append(slices.Clone(target), label{"outcome", outcome}) }
	return []point{{with("answered"), float64(answered), nil}, {with("failed"), float64(failed), nil},
		{with("unanswered"), float64(unanswered), nil}}
}

// responsesOf returns the statuses of whole responses, also of those that are not as expected.
func responsesOf(r *load.Result) map[string]int64 {
	codes := maps.Clone(r.StatusCodes)
	maps.Copy(codes, r.WrongStatusCodes)
	return codes
}

// from is the label with the moment from which the latency counts.
func from(r *load.Result) label {
	if r.LatencyFromDue != nil || r.Pacing != nil {
		return label{"from", "due"}
	}
	return label{"from", "sent"}
}

// ofSecond returns the metrics of the last second. It has no quantiles if no request ended in it.
func ofSecond(r *load.Result) []metric {
	if len(r.Series) == 0 {
		return nil
	}
	last := r.Series[len(r.Series)-1]
	connections := metric{name: "weir.load.connections", unit: "{connection}", kind: gauge}
	connections.add(float64(last.Connections))
	if last.Requests+last.Errors == 0 {
		return []metric{connections}
	}
	quantiles := metric{name: "weir.load.latency.quantile", unit: "s", kind: gauge}
	for _, q := range []struct {
		name  string
		value load.Micros
	}{{"0.5", last.P50}, {"0.9", last.P90}, {"0.99", last.P99}, {"1", last.Max}} {
		quantiles.add(float64(q.value)/1e6, from(r), label{"quantile", q.name})
	}
	return []metric{connections, quantiles}
}

// ofTargets returns the metrics of each method and path, or of each step.
func ofTargets(r *load.Result) ([]metric, error) {
	requests := metric{name: "weir.load.target.requests", unit: "{request}"}
	responses := metric{name: "weir.load.target.responses", unit: "{response}"}
	latency := metric{name: "weir.load.target.latency", unit: "s", kind: histogram}
	for i := range r.Targets {
		t := &r.Targets[i]
		if t.Sent == 0 {
			continue
		}
		labels := labelsOf(t)
		requests.points = append(requests.points, outcomes(labels, t.Requests, t.Failed, t.Unanswered)...)
		for _, class := range slices.Sorted(maps.Keys(t.Status)) {
			responses.add(float64(t.Status[class]), append(slices.Clone(labels), label{"status", class})...)
		}
		if err := latency.addLatency(t.Waited(), append(slices.Clone(labels), from(r))...); err != nil {
			return nil, err
		}
	}
	return []metric{requests, responses, latency}, nil
}

// labelsOf returns the labels of a target. The sum of all others has the path "other".
func labelsOf(t *load.TargetResult) []label {
	switch {
	case t.Step != "":
		return []label{{"step", t.Step}}
	case t.Path == "":
		return []label{{"path", "other"}}
	}
	return []label{{"method", t.Method}, {"path", t.Path}}
}
