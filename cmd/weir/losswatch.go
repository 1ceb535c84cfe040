package main

import (
	"fmt"
	"io"

	"github.com/weirhq/weir/log/sink"
)

// A lossWatch says on stderr when the log begins to lose events, and when it
// has stopped to: whoever looks at the log alone would not know.
type lossWatch struct {
	out    *sink.Queue
	to     io.Writer
	before sink.Stats
	losing bool
}

// look compares the counts with those of the last call.
func (w *lossWatch) look() {
	now := w.out.Stats()
	lost, written := now.Lost()-w.before.Lost(), now.Written-w.before.Written
	switch {
	case lost > 0 && !w.losing:
		w.losing = true
		fmt.Fprintf(w.to, "weir: the log loses events: %v; /metrics counts them\n", now.LastError)
	case lost == 0 && written > 0 && w.losing:
		w.losing = false
		fmt.Fprintf(w.to, "weir: the log is written again; %d events were lost so far\n", now.Lost())
	}
	w.before = now
}
