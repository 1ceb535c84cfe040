package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"strconv"
	"sync"

	"github.com/nats-io/nats.go"

	"github.com/weirhq/weir/load"
)

// A reporter sends the snapshots of a run to the coordinator. A snapshot that was not sent
// when the next one comes becomes part of it, so that a slow connection does not delay the
// run.
type reporter struct {
	ctx context.Context // is done when the job ends
	link
	run  string
	sent int // reports

	mu      sync.Mutex
	last    load.Progress
	pending *load.Result
	wake    chan struct{} // has room for one; closed at the end
	done    chan struct{}
}

func newReporter(ctx context.Context, l link, run string) *reporter {
	r := &reporter{ctx: ctx, link: l, run: run, wake: make(chan struct{}, 1), done: make(chan struct{})}
	go func() { // close awaits done
		defer close(r.done)
		for range r.wake {
			if r.sendPending() != nil {
				return // the job has ended
			}
		}
	}()
	return r
}

// progress is the Progress of the plan.
func (r *reporter) progress(p load.Progress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last = p
}

// snapshot is the Snapshot of the plan.
func (r *reporter) snapshot(s *load.Result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pending != nil {
		s.Series = append(r.pending.Series, s.Series...)
	}
	r.pending = s
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// sendPending sends the snapshot that waits.
func (r *reporter) sendPending() error {
	r.mu.Lock()
	now := report{r.last, r.pending}
	r.pending = nil
	r.mu.Unlock()
	text, err := json.Marshal(now)
	if err != nil {
		return err
	}
	return r.send(opReport, text)
}

// close waits for the report that is being sent.
func (r *reporter) close() {
	close(r.wake)
	<-r.done
}

// send sends a report or the result. It tries until the coordinator has it or the job ends.
func (r *reporter) send(op string, text []byte) error {
	r.sent++
	header := nats.Header{headerOp: {op}, headerAgent: {r.agent}, headerPart: {strconv.Itoa(r.sent)}}
	_, err := send(r.ctx, r.conn, r.subject+".run."+r.run, header, bytes.NewReader(text), int64(len(text)), math.MaxInt)
	return err
}
