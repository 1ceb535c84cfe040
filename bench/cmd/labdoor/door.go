package main

import (
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weirhq/weir/bench/labservice"
	"github.com/weirhq/weir/bench/log"
)

// A door logs three events for each request and responds with 1 KiB.
type door struct {
	log    logger
	events atomic.Int64 // calls of the logger

	timed bool
	after time.Duration
	first sync.Once
	from  time.Time // start of the measurement of calls; set by first
	calls labservice.Times

	requests sync.Pool // of *log.Request, so that only net/http and the logger allocate
}

func newDoor(l logger, timed bool, after time.Duration) *door {
	return &door{log: l, timed: timed, after: after, requests: sync.Pool{New: func() any { return new(log.Request) }}}
}

var kibibyte = []byte(strings.Repeat("weir\n", 1024)[:1024])

// The values of its headers are shared by all responses.
var plainText, kibibyteLength = []string{"text/plain"}, []string{"1024"}

// ServeHTTP logs two events before the response and one after it. The client waits for all of them, because net/http
// sends a short response when the handler has returned.
func (d *door) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	r := d.requests.Get().(*log.Request)
	defer d.requests.Put(r)
	log.Received(r)
	timed := d.timed && d.warm(r.StartedAt)
	d.call(0, r, timed)
	d.call(1, r, timed)
	w.Header()["Content-Type"] = plainText
	w.Header()["Content-Length"] = kibibyteLength
	w.Write(kibibyte)
	r.EndedAt = time.Now().UTC()
	d.call(2, r, timed)
}

// warm reports whether the warm-up is over.
func (d *door) warm(now time.Time) bool {
	d.first.Do(func() { d.from = now.Add(d.after) })
	return !now.Before(d.from)
}

func (d *door) call(event int, r *log.Request, timed bool) {
	switch {
	case d.log.silent:
		return
	case timed:
		start := time.Now()
		d.log.three[event](r)
		d.calls.Add(time.Since(start))
	default:
		d.log.three[event](r)
	}
	d.events.Add(1)
}

// close closes the logger and writes the measures.
func (d *door) close() error {
	err := d.log.close()
	return errors.Join(err, labservice.Leave(d.measures()))
}

// measures must be called after the logger is closed.
func (d *door) measures() []labservice.Measure {
	c := counts{emitted: d.events.Load()}
	if d.log.failed != nil {
		c.dropped = d.log.failed.n.Load()
	}
	if d.log.counts != nil {
		c = d.log.counts()
	}
	measures := []labservice.Measure{
		{Name: "log lines emitted", Value: float64(c.emitted), Better: "neither"},
		// the lab judges losses
		{Name: "log lines dropped by the logger", Value: float64(c.dropped), Better: "neither"},
	}
	if d.calls.Count() == 0 {
		return measures
	}
	for _, m := range []struct {
		name   string
		value  time.Duration
		better string
	}{
		{"log call p50", d.calls.Quantile(0.5), ""}, {"log call p99", d.calls.Quantile(0.99), ""},
		// A single call among many thousands is random.
		{"log call p99.9", d.calls.Quantile(0.999), "neither"}, {"log call max", d.calls.Max(), "neither"},
		{"log call mean", d.calls.Mean(), "neither"},
	} {
		measures = append(measures, labservice.Measure{Name: m.name, Unit: "us",
			Value: labservice.Microseconds(m.value), Better: m.better})
	}
	return measures
}
