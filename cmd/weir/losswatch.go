package main

import (
	"fmt"
	"io"

	"github.com/weirhq/weir/front"
	"github.com/weirhq/weir/log/sink"
)

// A lossWatch says on stderr when one of the log's destinations stands still or
// begins to lose events, and when it is written again: whoever looks at the log
// alone would not know.
type lossWatch struct {
	to     io.Writer
	before map[string]watched // by destination
}

// watched is what was last said of a destination, and its state then.
type watched struct {
	front.LogDestination
	trouble trouble
}

// trouble is what a destination has.
type trouble int

const (
	none trouble = iota
	waiting
	losing
)

func newLossWatch(to io.Writer) *lossWatch {
	return &lossWatch{to: to, before: make(map[string]watched)}
}

// look compares the counts of the destinations with those of the last call.
func (w *lossWatch) look(now []front.LogDestination) {
	for _, d := range now {
		before := w.before[d.To]
		w.before[d.To] = watched{d, w.compare(before, d)}
	}
}

// compare says what has changed, and returns the destination's trouble now.
func (w *lossWatch) compare(before watched, now front.LogDestination) trouble {
	if before.Diverted == 0 && now.Diverted > 0 {
		fmt.Fprintf(w.to, "weir: the log's %s has no reader; its events go to stderr\n", now.To)
	}
	was, is, s := &before.Stats, before.trouble, &now.Stats
	written := s.Written > was.Written
	switch {
	case s.Lost() > was.Lost():
		if is != losing {
			fmt.Fprintf(w.to, "weir: the log loses events: %s: %s; /metrics counts them\n", now.To, why(was, s))
		}
		return losing
	case is == none && !written && was.Waiting > 0 && s.Waiting > 0:
		fmt.Fprintf(w.to, "weir: the log waits: %s: %s\n", now.To, standstill(s))
		return waiting
	case is != none && written:
		fmt.Fprintf(w.to, "weir: the log is written again: %s; %d events were lost so far\n", now.To, s.Lost())
		return none
	}
	return is
}

// why says for what reason events were lost between two counts.
func why(was, s *sink.Stats) string {
	if lost(s, sink.Full) > lost(was, sink.Full) {
		return "the queue is full; " + standstill(s)
	}
	return standstill(s)
}

// standstill says why nothing is written, as far as that is known: an error may
// be an old one.
func standstill(s *sink.Stats) string {
	if s.LastError != nil {
		return "the last error was: " + s.LastError.Error()
	}
	return "its reader is too slow or stands still"
}

func lost(s *sink.Stats, reason sink.Reason) (n uint64) {
	for _, loss := range s.Dropped {
		if loss.Reason == reason {
			n += loss.Events
		}
	}
	return n
}
