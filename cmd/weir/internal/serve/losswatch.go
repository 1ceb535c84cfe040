package serve

import (
	"fmt"
	"io"

	"github.com/weirhq/weir/front/logto"
	"github.com/weirhq/weir/log/sink"
)

// A lossWatch prints to stderr when one of the log's destinations stalls or
// begins to lose events, and when it recovers: the log itself does not show it.
type lossWatch struct {
	stderr io.Writer
	last   map[string]observation // by destination
}

// An observation is the state of a destination and the trouble last printed.
type observation struct {
	logto.Destination
	trouble trouble
}

type trouble int

const (
	none trouble = iota
	waiting
	losing
)

func newLossWatch(stderr io.Writer) *lossWatch {
	return &lossWatch{stderr: stderr, last: make(map[string]observation)}
}

// check compares the counts of the destinations with those of the last call.
func (w *lossWatch) check(destinations []logto.Destination) {
	for _, d := range destinations {
		w.last[d.To] = observation{d, w.compare(w.last[d.To], d)}
	}
}

// compare prints a change and returns the destination's trouble now.
func (w *lossWatch) compare(last observation, now logto.Destination) trouble {
	if last.Diverted == 0 && now.Diverted > 0 {
		fmt.Fprintf(w.stderr, "weir: the log's %s has no reader; its events go to stderr\n", now.To)
	}
	was, state, s := &last.Stats, last.trouble, &now.Stats
	written := s.Written > was.Written
	switch {
	case s.Lost() > was.Lost():
		if state != losing {
			fmt.Fprintf(w.stderr, "weir: the log loses events: %s: %s; /metrics counts them\n", now.To,
				lossReason(was, s))
		}
		return losing
	case state == none && !written && was.Waiting > 0 && s.Waiting > 0:
		fmt.Fprintf(w.stderr, "weir: the log waits: %s: %s\n", now.To, stallReason(s))
		return waiting
	case state != none && written:
		fmt.Fprintf(w.stderr, "weir: the log is written again: %s; %d events are lost so far\n", now.To, s.Lost())
		return none
	}
	return state
}

// lossReason returns why events were lost between two counts.
func lossReason(was, s *sink.Stats) string {
	if dropped(s, sink.Full) > dropped(was, sink.Full) {
		return "the queue is full; " + stallReason(s)
	}
	return stallReason(s)
}

// stallReason returns why nothing is written, as far as is known: LastError may
// be an old error.
func stallReason(s *sink.Stats) string {
	if s.LastError != nil {
		return "the last error was: " + s.LastError.Error()
	}
	return "its reader is too slow or has stalled"
}

func dropped(s *sink.Stats, reason sink.Reason) (n uint64) {
	for _, loss := range s.Dropped {
		if loss.Reason == reason {
			n += loss.Events
		}
	}
	return n
}
