package dashboard

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirhq/weir/internal/snapshot"
)

// TestProblems has the same state in two successive snapshots.
func TestProblems(t *testing.T) {
	now, slow := time.Now(), 2.5
	per := func(n float64) snapshot.Counter { return snapshot.Counter{Total: n, PerSecond: n} }
	for _, c := range []struct {
		name string
		door snapshot.Door
		want []string
	}{
		{"a front door at rest", snapshot.Door{}, nil},
		{"few failed requests", snapshot.Door{Requests: snapshot.Requests{
			Counter: per(1000), Classes: map[string]snapshot.Counter{"5xx": per(5)},
		}}, nil},
		{"many failed requests", snapshot.Door{Requests: snapshot.Requests{
			Counter: per(1000), Classes: map[string]snapshot.Counter{"5xx": per(50)},
		}}, []string{"50.0 of 1,000 requests per second fail with 5xx"}},
		{"overload", snapshot.Door{
			Refusals: []snapshot.Refusal{{By: "limit", Reason: "in_flight", Route: "/a", Counter: per(40)},
				{By: "malformed", Counter: snapshot.Counter{Total: 7}}},
			Limits: []snapshot.Limit{{Limit: "in_flight", Route: "/a", InUse: 46, Value: 50},
				{Limit: "rate", Route: "all", InUse: 9, Value: 5}, {Limit: "queue", Route: "/a", InUse: 1, Value: 5}},
		}, []string{"40.0 refused per second by limit in_flight of /a", "limit in_flight of /a: 46 of 50 in use",
			"1 request waits in the queue of in_flight of /a"}},
		{"an upstream", snapshot.Door{Upstreams: []snapshot.Upstream{{
			Upstream: "shop", Classes: map[string]snapshot.Counter{"2xx": per(90), "5xx": per(10)}, Waiting: 1, Queued: 12, Failures: map[string]snapshot.Counter{"refused": per(3), "reset": {Total: 2}},
			Servers: []snapshot.Server{{Server: "http://a:1", States: map[string]int{"ejected": 1}},
				{Server: "http://b:1", States: map[string]int{"usable": 1, "starting": 1}, P99: &slow}, {Server: "http://c:1", Requests: per(1)}},
		}}}, []string{"upstream shop: http://a:1 is ejected", "upstream shop: http://b:1 is slow: p99 <= 2.50 s",
			"upstream shop: http://c:1 is slow: p99 is above all buckets",
			"upstream shop: 10.0 of 100 requests per second fail with 5xx",
			"upstream shop: 1 request waits for a connection",
			"upstream shop: 12 requests wait for a free place", "upstream shop: 3.00 failures per second: refused"}},
		{"the log", snapshot.Door{Log: snapshot.Log{
			Emitted: per(10), Waiting: 30, QueueBytes: 600, QueueSize: 1024, FileErrors: per(1),
			Dropped: map[string]snapshot.Counter{"full": per(10), "write_error": {Total: 4}},
		}, Destinations: []snapshot.Destination{{To: "stdout"}, {To: "/var/log/weir.log", Dropped: per(10), LastError: "no space left on device"},
			{To: "busy.log", QueueBytes: 9, Written: per(5)}, {To: "pipe", QueueBytes: 9}, {To: "nats://a:4222", DiskEvents: 3}, {To: "otlp+http://a:4318", QueueBytes: 9, LastError: "refused"}}}, []string{"the log loses 10.0 events per second: full", "the log stands still: 30 waiting events",
			"the queue of the log has 600 B of 1.02 kB", "a file of the log cannot be rotated, reopened or synced",
			"/var/log/weir.log of the log loses 10.0 events per second; its last error: no space left on device",
			"pipe of the log stands still", "nats://a:4222 of the log stands still", "otlp+http://a:4318 of the log stands still; its last error: refused"}},
		{"certificates", snapshot.Door{Certificates: []snapshot.Certificate{
			{Name: "a.example", Days: -1}, {Name: "b.example", Days: 3.5}, {Name: "c.example", Days: 40},
		}}, []string{"the certificate of a.example has ended", "the certificate of b.example ends in 3 days"}},
		{"the process", snapshot.Door{
			Draining: true, Process: snapshot.Process{OpenFiles: 95, MaxFiles: 100, Loops: []snapshot.Loop{
				{Loop: "1", CPU: per(.5)}, {Loop: "2", CPU: per(.99)}}},
			Reloads: snapshot.Reloads{Applied: now, Failed: now.Add(time.Second)},
		}, []string{"the front door drains", "the last reload has failed: weir check has the reason",
			"event loop 2 is busy all the time", "95 of 100 open files"}},
		{"a mistake that was corrected", snapshot.Door{
			Reloads: snapshot.Reloads{Applied: now.Add(time.Second), Failed: now},
		}, nil},
	} {
		if diff := cmp.Diff(c.want, problems(&c.door, &c.door)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// TestStandstillLastsTwoIntervals has events that wait for others at the end of an interval, which is no fault, and then
// events that wait for a server that is away.
func TestStandstillLastsTwoIntervals(t *testing.T) {
	moves := func(written, waiting, disk float64) *snapshot.Door {
		n := snapshot.Counter{PerSecond: written}
		return &snapshot.Door{Log: snapshot.Log{Emitted: snapshot.Counter{PerSecond: 2}, Written: n, Waiting: waiting},
			Destinations: []snapshot.Destination{{To: "server", Written: n, QueueBytes: 100 * waiting},
				{To: "spilled", Written: n, DiskEvents: disk}}}
	}
	var before *snapshot.Door
	for i, c := range []struct {
		door *snapshot.Door
		want []string
	}{
		{moves(0, 2, 2), nil}, // the first snapshot
		{moves(2, 2, 2), nil},
		{moves(0, 2, 2), nil},
		{moves(2, 0, 0), nil},
		{moves(0, 1, 0), nil},
		{moves(0, 3, 2), []string{"the log stands still: 3 waiting events", "server of the log stands still"}},
		{moves(0, 5, 4), []string{"the log stands still: 5 waiting events", "server of the log stands still",
			"spilled of the log stands still"}},
		{moves(9, 0, 0), nil},
	} {
		if diff := cmp.Diff(c.want, problems(before, c.door)); diff != "" {
			t.Errorf("snapshot %d (-want +got):\n%s", i, diff)
		}
		before = c.door
	}
}
