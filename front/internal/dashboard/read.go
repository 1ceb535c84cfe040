package dashboard

import (
	"cmp"
	"maps"
	"slices"
	"time"

	dto "github.com/prometheus/client_model/go"

	"github.com/weirhq/weir/internal/snapshot"
	"github.com/weirhq/weir/internal/version"
)

// A reader makes snapshots from the metrics of a front door. Only one goroutine at a time may use it.
type reader struct {
	from   Sources
	last   time.Time      // of the last snapshot
	before *snapshot.Door // the last snapshot; nil before the first
	changes
}

// read returns the state at a time.
func (r *reader) read(at time.Time) *snapshot.Door {
	seconds := 0.0
	if !r.last.IsZero() {
		seconds = at.Sub(r.last).Seconds()
	}
	r.last = at
	r.next(seconds)
	f := gather(r.from.Metrics)
	reloads := f.times("weir_last_reload_timestamp_seconds", "result")
	d := &snapshot.Door{
		At: at.UTC(), Started: unix(f.sum("process_start_time_seconds")), Version: version.String(), Draining: r.from.Draining(),
		Seconds: seconds, Log: r.log(f), Process: r.process(f), Destinations: r.destinations(f),
		Certificates: certificates(f, at), Limits: limits(f), Upstreams: r.upstreams(f),
		Writable: r.from.Writable(), Failed: r.from.Failures.Failed(),
		Reloads: snapshot.Reloads{Applied: reloads["applied"], Failed: reloads["failed"]},
	}
	r.requests(f, d)
	r.refusals(f, d)
	for _, m := range f["weir_connections"] {
		d.Open = append(d.Open, snapshot.Open{Protocol: label(m, "protocol"), Connections: value(m)})
	}
	for _, m := range f["weir_tls_connections_total"] {
		protocol, version := label(m, "protocol"), label(m, "version")
		d.Connections = append(d.Connections, snapshot.Connections{
			Protocol: protocol, Version: version, Counter: r.counter(value(m), "tls", protocol, version),
		})
	}
	d.Problems = problems(r.before, d)
	r.before = d
	return d
}

// requests adds the requests, and those of each route.
func (r *reader) requests(f families, d *snapshot.Door) {
	d.Requests = snapshot.Requests{InFlight: f.sum("weir_requests_in_flight"), Classes: make(map[string]snapshot.Counter)}
	routes := make(map[string]*snapshot.Route)
	latencies := make(map[string][]float64)
	all := &d.Requests
	for _, m := range f["weir_request_duration_seconds"] {
		name, class, h := label(m, "route"), label(m, "class"), m.GetHistogram()
		route := routes[name]
		if route == nil {
			route = &snapshot.Route{Route: name, Classes: make(map[string]snapshot.Counter)}
			routes[name] = route
		}
		n := r.counter(float64(h.GetSampleCount()), "route", name, class)
		route.Counter, route.Classes[class] = route.Add(n), n
		all.Counter, all.Classes[class] = all.Add(n), all.Classes[class].Add(n)
		if d.LatencyBounds == nil { // all routes have the same
			d.LatencyBounds = bounds(h)
		}
		if class == "1xx" {
			continue // a tunnel takes as long as its client wants
		}
		changed := r.since(buckets(h), "latency", name, class)
		latencies[name], all.Latency = plus(latencies[name], changed), plus(all.Latency, changed)
	}
	all.P50, all.P99 = quantile(.5, all.Latency, d.LatencyBounds), quantile(.99, all.Latency, d.LatencyBounds)
	for name, route := range routes {
		route.P50 = quantile(.5, latencies[name], d.LatencyBounds)
		route.P99 = quantile(.99, latencies[name], d.LatencyBounds)
		d.Routes = append(d.Routes, *route)
	}
	slices.SortFunc(d.Routes, func(a, b snapshot.Route) int {
		return cmp.Or(busier(a.Counter, b.Counter), cmp.Compare(a.Route, b.Route))
	})
	d.Routes, d.RoutesMore = atMost(snapshot.MaxRoutes, d.Routes)
}

// busier compares counters by the present rate, and then by the total, the highest first.
func busier(a, b snapshot.Counter) int {
	return cmp.Or(cmp.Compare(b.PerSecond, a.PerSecond), cmp.Compare(b.Total, a.Total))
}

// atMost returns the first n of a list, and the number of the others.
func atMost[T any](n int, list []T) (first []T, more int) {
	n = min(n, len(list))
	return list[:n], len(list) - n
}

// refusalMetrics are the metrics of refusals. By is the name of the metric in a snapshot, and reason the label that
// has the reason.
var refusalMetrics = []struct{ name, by, reason string }{
	{"weir_limit_refusals_total", "limit", "limit"},
	{"weir_access_refusals_total", "access", "by"},
	{"weir_malformed_requests_total", "malformed", ""},
	{"weir_proxy_protocol_refusals_total", "proxy_protocol", "reason"},
	{"weir_http2_errors_total", "http2", "reason"},
	{"weir_http3_errors_total", "http3", "reason"},
	{"weir_tls_handshakes_total", "tls", "result"},
}

// refusals adds what was refused.
func (r *reader) refusals(f families, d *snapshot.Door) {
	for _, c := range refusalMetrics {
		for _, m := range f[c.name] {
			reason, route := label(m, c.reason), label(m, "route")
			n := r.counter(value(m), c.name, reason, route, label(m, "of"))
			if n.Total > 0 && reason != "ok" && reason != "resumed" {
				d.Refusals = append(d.Refusals, snapshot.Refusal{By: c.by, Reason: reason, Route: route, Counter: n})
			}
		}
	}
	slices.SortStableFunc(d.Refusals, func(a, b snapshot.Refusal) int { return busier(a.Counter, b.Counter) })
	d.Refusals, d.RefusalsMore = atMost(snapshot.MaxRefusals, d.Refusals)
}

// limits returns the limits whose use is counted.
func limits(f families) (all []snapshot.Limit) {
	values := make(map[[2]string]float64)
	for _, m := range f["weir_limit_value"] {
		values[[2]string{label(m, "limit"), label(m, "route")}] = value(m)
	}
	for _, m := range f["weir_limit_in_use"] {
		l := snapshot.Limit{Limit: label(m, "limit"), Route: label(m, "route"), InUse: value(m)}
		l.Value = values[[2]string{l.Limit, l.Route}]
		all = append(all, l)
	}
	return all
}

// upstreams returns the upstreams with their servers.
func (r *reader) upstreams(f families) (all []snapshot.Upstream) {
	byName := make(map[string]*snapshot.Upstream)
	for _, m := range f["weir_upstream_waiting"] { // every upstream has one
		name := label(m, "upstream")
		byName[name] = &snapshot.Upstream{
			Upstream: name, Waiting: value(m), Classes: make(map[string]snapshot.Counter),
			Failures: make(map[string]snapshot.Counter),
		}
	}
	each := func(metric string, add func(*snapshot.Upstream, *dto.Metric)) {
		for _, m := range f[metric] {
			if up := byName[label(m, "upstream")]; up != nil {
				add(up, m)
			}
		}
	}
	each("weir_upstream_queued", func(up *snapshot.Upstream, m *dto.Metric) { up.Queued = value(m) })
	each("weir_upstream_requests_total", func(up *snapshot.Upstream, m *dto.Metric) {
		class := label(m, "class")
		up.Classes[class] = r.counter(value(m), "upstream", up.Upstream, class)
	})
	each("weir_upstream_errors_total", func(up *snapshot.Upstream, m *dto.Metric) {
		kind := label(m, "kind")
		up.Failures[kind] = r.counter(value(m), "failures", up.Upstream, kind)
	})
	each("weir_upstream_retries_total", func(up *snapshot.Upstream, m *dto.Metric) {
		up.Retries = up.Retries.Add(r.counter(value(m), "retries", up.Upstream, label(m, "reason"), label(m, "result")))
	})
	each("weir_upstream_server_in_flight", func(up *snapshot.Upstream, m *dto.Metric) {
		up.Servers = append(up.Servers, snapshot.Server{
			Server: label(m, "server"), InFlight: value(m), States: make(map[string]int),
		})
	})
	r.servers(each)
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		all = append(all, *byName[name])
	}
	return all
}

// servers adds to the servers of upstreams what other metrics have.
func (r *reader) servers(each func(string, func(*snapshot.Upstream, *dto.Metric))) {
	eachServer := func(metric string, add func(*snapshot.Upstream, *snapshot.Server, *dto.Metric)) {
		each(metric, func(up *snapshot.Upstream, m *dto.Metric) {
			url := label(m, "server")
			if i := slices.IndexFunc(up.Servers, func(s snapshot.Server) bool { return s.Server == url }); i >= 0 {
				add(up, &up.Servers[i], m)
			}
		})
	}
	eachServer("weir_upstream_server_weight", func(_ *snapshot.Upstream, s *snapshot.Server, m *dto.Metric) {
		s.Weight = value(m)
	})
	eachServer("weir_upstream_server_state", func(_ *snapshot.Upstream, s *snapshot.Server, m *dto.Metric) {
		if n := value(m); n > 0 {
			s.States[label(m, "state")] = int(n)
		}
	})
	eachServer("weir_upstream_duration_seconds", func(up *snapshot.Upstream, s *snapshot.Server, m *dto.Metric) {
		h := m.GetHistogram()
		s.Requests = r.counter(float64(h.GetSampleCount()), "server", up.Upstream, s.Server)
		changed := r.since(buckets(h), "server latency", up.Upstream, s.Server)
		upper := bounds(h)
		s.P50, s.P99 = quantile(.5, changed, upper), quantile(.99, changed, upper)
	})
}

// log returns the counts of the log.
func (r *reader) log(f families) snapshot.Log {
	l := snapshot.Log{Dropped: make(map[string]snapshot.Counter)}
	for name, to := range map[string]*snapshot.Counter{
		"weir_log_events_emitted_total": &l.Emitted, "weir_log_events_written_total": &l.Written,
		"weir_log_events_discarded_total": &l.Discarded, "weir_log_bytes_total": &l.Bytes,
		"weir_log_file_errors_total": &l.FileErrors,
	} {
		*to = r.counter(f.sum(name), name)
	}
	for name, to := range map[string]*float64{
		"weir_log_events_held": &l.Held, "weir_log_queue_events": &l.Waiting, "weir_log_queue_bytes": &l.QueueBytes,
		"weir_log_queue_size_bytes": &l.QueueSize, "weir_log_longest_write_seconds": &l.LongestWrite,
		"weir_log_cpu_share": &l.CPUShare,
	} {
		*to = f.sum(name)
	}
	for _, m := range f["weir_log_events_dropped_total"] {
		reason := label(m, "reason")
		n := r.counter(value(m), "dropped", reason, label(m, "severity"))
		if n.Total > 0 {
			l.Dropped[reason] = l.Dropped[reason].Add(n)
		}
	}
	return l
}

// destinations returns the destinations of the log.
func (r *reader) destinations(f families) (all []snapshot.Destination) {
	waiting := make(map[string][2]float64)
	for _, m := range f["weir_log_destination_queue_bytes"] {
		waiting[label(m, "to")] = [2]float64{value(m)}
	}
	for _, m := range f["weir_log_destination_disk_events"] {
		waiting[label(m, "to")] = [2]float64{waiting[label(m, "to")][0], value(m)}
	}
	for _, to := range slices.Sorted(maps.Keys(waiting)) {
		all = append(all, snapshot.Destination{
			To: to, QueueBytes: waiting[to][0], DiskEvents: waiting[to][1], LastError: r.from.LogError(to),
		})
	}
	for _, m := range f["weir_log_destination_events_total"] {
		i := slices.IndexFunc(all, func(d snapshot.Destination) bool { return d.To == label(m, "to") })
		n := r.counter(value(m), "destination", label(m, "to"), label(m, "result"))
		switch {
		case i < 0:
		case label(m, "result") == "written":
			all[i].Written = n
		default:
			all[i].Dropped = n
		}
	}
	return all
}

// process returns the resources of the process.
func (r *reader) process(f families) snapshot.Process {
	p := snapshot.Process{
		CPU:      r.counter(f.sum("process_cpu_seconds_total"), "cpu"),
		Resident: f.sum("process_resident_memory_bytes"), Heap: f.sum("go_memstats_heap_alloc_bytes"),
		Goroutines: f.sum("go_goroutines"), OpenFiles: f.sum("process_open_fds"), MaxFiles: f.sum("process_max_fds"),
	}
	for _, m := range f["weir_loop_cpu_seconds_total"] {
		loop := label(m, "loop")
		p.Loops = append(p.Loops, snapshot.Loop{Loop: loop, CPU: r.counter(value(m), "loop", loop)})
	}
	for _, m := range f["go_gc_duration_seconds"] {
		p.Pauses = r.counter(m.GetSummary().GetSampleSum(), "pauses")
		p.Cycles = r.counter(float64(m.GetSummary().GetSampleCount()), "cycles")
	}
	return p
}

// certificates returns the certificates in use, the first to end first.
func certificates(f families, at time.Time) (all []snapshot.Certificate) {
	for _, m := range f["weir_tls_certificate_expiry_timestamp_seconds"] {
		ends := unix(value(m))
		all = append(all, snapshot.Certificate{
			Name: label(m, "name"), File: label(m, "file"), Ends: ends, Days: ends.Sub(at).Hours() / 24,
		})
	}
	slices.SortStableFunc(all, func(a, b snapshot.Certificate) int { return a.Ends.Compare(b.Ends) })
	return all
}
