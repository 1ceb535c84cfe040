package dashboard

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/weirhq/weir/internal/readable"
	"github.com/weirhq/weir/internal/snapshot"
)

const (
	failedShare = 0.01 // of the requests with a status of 5xx
	fullShare   = 0.9  // of a limit
	queuedShare = 0.5  // of the queue of the log
	busyShare   = 0.95 // of a second per second of an event loop
	slowSeconds = 1    // p99 of a server
	soonDays    = 14   // until a certificate ends
)

// problems returns what an operator should look at now, as sentences without a full stop. Most of them compare a
// snapshot with the one before, so that the first snapshot of a viewer has few. before is that snapshot, or nil.
func problems(before, d *snapshot.Door) (all []string) {
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	if d.Draining {
		add("the front door drains")
	}
	if r := d.Requests; r.Classes["5xx"].PerSecond > failedShare*r.PerSecond {
		add("%s of %s requests per second fail with 5xx", readable.Number(r.Classes["5xx"].PerSecond),
			readable.Number(r.PerSecond))
	}
	for _, r := range d.Refusals {
		if r.PerSecond > 0 {
			add("%s refused per second by %s", readable.Number(r.PerSecond), refuser(r))
		}
	}
	for _, l := range d.Limits {
		if l.Value > 0 && l.InUse >= fullShare*l.Value && l.Limit != "rate" { // that of a rate is a number of clients
			add("limit %s of %s: %.0f of %.0f in use", l.Limit, l.Route, l.InUse, l.Value)
		}
	}
	for _, l := range d.Limits {
		if l.Limit == "queue" && l.InUse > 0 {
			add("%s in the queue of in_flight of %s", waiting(l.InUse), l.Route)
		}
	}
	for i := range d.Upstreams {
		upstreamProblems(&d.Upstreams[i], add)
	}
	logProblems(before, d, add)
	for i := range d.Destinations {
		to := &d.Destinations[i]
		destinationProblems(to, standsStill(d, to) && stoodStill(before, to.To), add)
	}
	for _, c := range d.Certificates {
		switch {
		case c.Days < 0:
			add("the certificate of %s has ended", c.Name)
		case c.Days < soonDays:
			add("the certificate of %s ends in %s", c.Name, readable.Things(int64(c.Days), "day"))
		}
	}
	if d.Reloads.Failed.After(d.Reloads.Applied) {
		add("the last reload has failed: weir check has the reason")
	}
	for _, l := range d.Process.Loops {
		if l.CPU.PerSecond >= busyShare {
			add("event loop %s is busy all the time", l.Loop)
		}
	}
	if p := d.Process; p.MaxFiles > 0 && p.OpenFiles >= fullShare*p.MaxFiles {
		add("%.0f of %.0f open files", p.OpenFiles, p.MaxFiles)
	}
	return all
}

// refuser describes what has refused.
func refuser(r snapshot.Refusal) string {
	text := strings.TrimSpace(r.By + " " + r.Reason)
	if r.Route != "" {
		text += " of " + r.Route
	}
	return text
}

func upstreamProblems(up *snapshot.Upstream, add func(string, ...any)) {
	for _, s := range up.Servers {
		if s.P99 != nil && *s.P99 > slowSeconds {
			add("upstream %s: %s is slow: p99 <= %s", up.Upstream, s.Server, readable.Span(*s.P99*1e6))
		}
		if s.P99 == nil && s.Requests.PerSecond > 0 {
			add("upstream %s: %s is slow: p99 is above all buckets", up.Upstream, s.Server)
		}
		for _, state := range slices.Sorted(maps.Keys(s.States)) {
			if state != "usable" && state != "starting" {
				add("upstream %s: %s is %s", up.Upstream, s.Server, state)
			}
		}
	}
	all := 0.0
	for _, class := range up.Classes {
		all += class.PerSecond
	}
	if failed := up.Classes["5xx"].PerSecond; failed > failedShare*all {
		add("upstream %s: %s of %s requests per second fail with 5xx", up.Upstream, readable.Number(failed), readable.Number(all))
	}
	if up.Waiting > 0 {
		add("upstream %s: %s for a connection", up.Upstream, waiting(up.Waiting))
	}
	if up.Queued > 0 {
		add("upstream %s: %s for a free place", up.Upstream, waiting(up.Queued))
	}
	for _, kind := range slices.Sorted(maps.Keys(up.Failures)) {
		if n := up.Failures[kind].PerSecond; n > 0 {
			add("upstream %s: %s failures per second: %s", up.Upstream, readable.Number(n), kind)
		}
	}
}

// waiting says how many requests wait.
func waiting(n float64) string {
	if n == 1 {
		return "1 request waits"
	}
	return readable.Things(int64(n), "request") + " wait"
}

func destinationProblems(to *snapshot.Destination, still bool, add func(string, ...any)) {
	why := ""
	if to.LastError != "" {
		why = lastError + to.LastError
	}
	switch n := to.Dropped.PerSecond; {
	case n > 0:
		add("%s of the log loses %s events per second%s", to.To, readable.Number(n), why)
	case still:
		add("%s of the log stands still%s", to.To, why)
	}
}

// lastError separates a problem from the error that explains it. The page cuts it off to recognize a problem whose error
// has another port each time.
const lastError = "; its last error: "

// standsStill reports whether nothing was written to a destination in the last interval, while events were emitted and
// some wait. One interval is no proof: at low traffic, events wait up to a second for others (log.queue.linger).
func standsStill(d *snapshot.Door, to *snapshot.Destination) bool {
	return (to.QueueBytes > 0 || to.DiskEvents > 0) && d.Log.Emitted.PerSecond > 0 && to.Written.PerSecond == 0
}

// stoodStill is standsStill for the destination of that name in the snapshot before, which may be nil.
func stoodStill(before *snapshot.Door, name string) bool {
	return before != nil && slices.ContainsFunc(before.Destinations, func(to snapshot.Destination) bool {
		return to.To == name && standsStill(before, &to)
	})
}

func logProblems(before, d *snapshot.Door, add func(string, ...any)) {
	l := &d.Log
	for _, reason := range slices.Sorted(maps.Keys(l.Dropped)) {
		if n := l.Dropped[reason].PerSecond; n > 0 {
			add("the log loses %s events per second: %s", readable.Number(n), reason)
		}
	}
	still := func(l *snapshot.Log) bool {
		return l.Waiting > 0 && l.Emitted.PerSecond > 0 && l.Written.PerSecond == 0
	}
	if still(l) && before != nil && still(&before.Log) {
		add("the log stands still: %s", readable.Things(int64(l.Waiting), "waiting event"))
	}
	if l.QueueSize > 0 && l.QueueBytes >= queuedShare*l.QueueSize {
		add("the queue of the log has %s of %s", readable.Size(l.QueueBytes), readable.Size(l.QueueSize))
	}
	if l.FileErrors.PerSecond > 0 {
		add("a file of the log cannot be rotated, reopened or synced")
	}
}
