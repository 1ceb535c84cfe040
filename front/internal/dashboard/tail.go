package dashboard

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/weirhq/weir/front/internal/recent"
	"github.com/weirhq/weir/internal/livepage"
	"github.com/weirhq/weir/internal/where"
	"github.com/weirhq/weir/log/record"
)

// The bounds of a live tail. Events beyond them are counted, and the viewer sees the counts.
const (
	tailEvery    = 250 * time.Millisecond
	mostOfBatch  = 50                     // events that are sent at once
	choosingTime = 100 * time.Millisecond // for the events of a batch
)

// A batch has the events that were chosen among those since the batch before.
type batch struct {
	Events   []tailEvent `json:"events"`
	Examined int         `json:"examined"`        // events that were compared with the condition
	Skipped  int         `json:"skipped"`         // events that were not, because there were too many
	Unshown  int         `json:"unshown"`         // chosen events beyond the maximum
	Failed   int         `json:"failed"`          // events for which the condition could not be evaluated
	Cause    string      `json:"cause,omitempty"` // of the first of these failures
}

// A tailEvent is a chosen event.
type tailEvent struct {
	Text    string `json:"text"` // in the human form of weir tail
	TraceID string `json:"trace_id"`
	Bad     bool   `json:"bad"` // of severity ERROR or worse
}

// tail returns the handler that sends the events that the log gets from now on, as server-sent events, if the condition
// in the parameter where is true for them.
func tail(from *Sources) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c := chooser{reader: record.NewReader()}
		if source := r.URL.Query().Get("where"); strings.TrimSpace(source) != "" {
			var err error
			if c.where, err = where.Compile(source); err != nil {
				http.Error(w, fmt.Sprintf("--where: %v\n%s", err, where.Advice(err)), http.StatusBadRequest)
				return
			}
		}
		if why := from.Untailable(); why != "" {
			http.Error(w, why, http.StatusConflict)
			return
		}
		t := from.Tap.Join()
		if t == nil {
			http.Error(w, "too many viewers", http.StatusServiceUnavailable)
			return
		}
		defer from.Tap.Leave(t)
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("Cache-Control", "no-store")
		followTail(w, r, t, &c)
	}
}

// followTail sends batches until the viewer leaves.
func followTail(w http.ResponseWriter, r *http.Request, t *recent.Tail, c *chooser) {
	stream := http.NewResponseController(w)
	tick := time.NewTicker(tailEvery)
	defer tick.Stop()
	var lines []byte
	for sent := false; ; sent = true {
		var skipped int
		lines, skipped = t.Take(lines)
		b := c.choose(lines, time.Now().Add(choosingTime))
		if b.Skipped += skipped; !sent || b.Examined+b.Skipped > 0 {
			stream.SetWriteDeadline(time.Now().Add(writeTimeout))
			if _, err := w.Write(livepage.Encode("", 0, b)); err != nil || stream.Flush() != nil {
				return
			}
		}
		select {
		case <-r.Context().Done():
			return
		case <-tick.C:
		}
	}
}

// A chooser chooses events by a condition. Only one goroutine at a time may use it.
type chooser struct {
	where  *where.Condition // nil for all events
	reader *record.Reader
	text   []byte
}

// choose returns the chosen events among lines. It ends at a deadline, and counts the others.
func (c *chooser) choose(lines []byte, deadline time.Time) *batch {
	b := &batch{Events: []tailEvent{}}
	for line := range bytes.Lines(lines) {
		if b.Examined%64 == 63 && time.Now().After(deadline) {
			b.Skipped++
			continue
		}
		b.Examined++
		r, err := c.reader.Parse(line)
		if err != nil || !c.holds(r, b) {
			continue
		}
		if len(b.Events) == mostOfBatch {
			b.Unshown++
			continue
		}
		c.text = r.AppendHuman(c.text[:0], record.HumanOptions{Location: time.UTC})
		severity := r.Severity
		b.Events = append(b.Events, tailEvent{
			Text: string(bytes.TrimSuffix(c.text, []byte("\n"))), TraceID: strings.Clone(r.TraceID),
			Bad: severity != record.SeverityNone && severity <= record.SeverityError,
		})
	}
	return b
}

// holds reports whether the condition is true for an event. It counts a failure.
func (c *chooser) holds(r *record.Record, b *batch) bool {
	if c.where == nil {
		return true
	}
	holds, err := c.where.Holds(r)
	if err != nil {
		if b.Failed++; b.Cause == "" {
			b.Cause = err.Error()
		}
	}
	return holds
}
