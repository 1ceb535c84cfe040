package loadpage

import (
	"time"

	"github.com/weirhq/weir/internal/machine"
	"github.com/weirhq/weir/load"
)

// LatencyBounds returns the bounds of the latencies of a Second, in seconds.
func LatencyBounds() (bounds []float64) {
	for _, bound := range load.LatencyBounds() {
		bounds = append(bounds, bound.Seconds())
	}
	return bounds
}

// A Second has the last complete second of the run, in the form that the charts of the dashboard have. Its rates are per
// second.
type Second struct {
	At       time.Time          `json:"at"` // its end
	Asked    float64            `json:"asked"`
	Sent     float64            `json:"sent"`
	Answered float64            `json:"answered"`
	Errors   float64            `json:"errors"`
	Late     float64            `json:"late"`
	Unsent   float64            `json:"unsent"`
	Status   map[string]float64 `json:"status"`
	Due      int64              `json:"due"` // requests that are due and not sent, at its end
	InFlight int64              `json:"in_flight"`
	Open     int                `json:"connections"`
	Busy     *float64           `json:"busy"` // processors of this machine; nil if they are not known
	Requests latencies          `json:"requests"`
}

// latencies are those of the requests that ended in a second.
type latencies struct {
	Latency []int64  `json:"latency"` // requests by latency_bounds
	P50     *float64 `json:"p50"`
	P99     *float64 `json:"p99"`
}

// Seconds returns the seconds of one run. The zero value is ready for use.
type Seconds struct {
	busy machine.BusyMeter
	any  bool
	last load.Progress // of the last second
}

// Next returns the last second of a progress, or nil if it has returned it before. began is the beginning of the run.
func (f *Seconds) Next(p *load.Progress, began time.Time) *Second {
	l, length := &p.Last, p.Last.Seconds
	if length == 0 || f.any && l.Start == f.last.Last.Start {
		return nil
	}
	s := &Second{
		At: began.Add(time.Duration((l.Start + length) * float64(time.Second))), Busy: f.busy.Processors(),
		Asked: float64(l.Asked) / length, Sent: float64(l.Sent) / length,
		Answered: float64(l.Requests) / length, Errors: float64(l.Errors) / length,
		Late: float64(p.Late-f.last.Late) / length, Unsent: float64(p.Unsent-f.last.Unsent) / length,
		Status: make(map[string]float64), Due: p.Asked - p.Sent - p.Unsent, InFlight: p.InFlight, Open: p.Connections,
		Requests: latencies{Latency: p.Buckets},
	}
	for class, n := range p.Status {
		s.Status[class] = float64(n-f.last.Status[class]) / length
	}
	if l.Requests+l.Errors > 0 {
		s.Requests.P50, s.Requests.P99 = seconds(l.P50), seconds(l.P99)
	}
	f.any, f.last = true, *p
	return s
}

// seconds returns a time in seconds, or nil for a request that was never answered.
func seconds(us load.Micros) *float64 {
	if us == load.NeverAnswered {
		return nil
	}
	s := float64(us) / 1e6
	return &s
}
