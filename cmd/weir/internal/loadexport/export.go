// Package loadexport sends the measurements of a run to databases of metrics while it lasts: weir load --export. A
// server that is slow or away does not slow the load. Its intervals wait in a queue; those that it does not get are
// counted.
package loadexport

import (
	"errors"
	"strings"
	"time"

	"github.com/weirhq/weir/load"
)

// An Exporter sends the measurements of one run. The nil Exporter sends none. Its methods are for one goroutine at a
// time.
type Exporter struct {
	deliveries []*delivery
	last       time.Time // of the last interval
}

// Open returns an Exporter for servers; nil without any. All series have the tags. say shows a message to the user; it
// may be called until the end of Finish. Open does not wait for the servers.
func Open(urls []string, tags map[string]string, say func(string)) (*Exporter, error) {
	labels, err := runLabels(tags)
	if err != nil || len(urls) == 0 {
		return nil, err
	}
	e := &Exporter{}
	for _, text := range urls {
		to, err := open(text, labels)
		if err != nil {
			e.Finish(nil)
			return nil, err
		}
		e.deliveries = append(e.deliveries, newDelivery(withoutUser(text), to, say))
	}
	return e, nil
}

// open returns the protocol of a URL.
func open(text string, labels []label) (protocol, error) {
	scheme, _, _ := strings.Cut(text, "://")
	switch {
	case scheme == "otlp+http" || scheme == "otlp+https":
		return openOTLP(text, labels)
	case scheme == "prometheus+http" || scheme == "prometheus+https":
		return openRemoteWrite(text, labels)
	}
	return nil, errors.New("the URL begins with otlp+http://, otlp+https://, prometheus+http:// or prometheus+https://")
}

// Snapshot sends the measurements so far. It does not wait.
func (e *Exporter) Snapshot(r *load.Result) {
	if e == nil || r.DurationSeconds == 0 { // during the warm-up
		return
	}
	next := e.next(r)
	for _, d := range e.deliveries {
		d.offer(next)
	}
}

// next returns the interval that ends now, to the millisecond. No two have the same time.
func (e *Exporter) next(r *load.Result) interval {
	now := time.Now().Truncate(time.Millisecond)
	if !now.After(e.last) {
		now = e.last.Add(time.Millisecond)
	}
	e.last = now
	return interval{at: now, result: r}
}

// Finish sends the result of the run, which is nil if it failed, and waits for the servers, up to finishWithin. It adds
// a warning to the result for each that did not get all intervals as a whole.
func (e *Exporter) Finish(r *load.Result) {
	if e == nil {
		return
	}
	for _, d := range e.deliveries {
		d.end()
	}
	if r != nil {
		last := e.next(r)
		last.last = true
		for _, d := range e.deliveries {
			d.put(last)
		}
	}
	for _, d := range e.deliveries {
		if warning := d.wait(); r != nil && warning != "" {
			r.Warnings = append(r.Warnings, warning)
		}
	}
}
