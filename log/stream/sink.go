package stream

import (
	"cmp"
	"context"

	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/internal/spool"
	"github.com/weirhq/weir/log/sink"
)

// A Sink delivers lines to a [Destination] in a goroutine of its own. Make one with [New].
// Any number of goroutines may use it.
//
// The lines that are not delivered yet are in a [sink.Queue], whose options limit their
// memory and say which lines to drop, and then on a disk with [Options.Spill]. While the
// server is not available, the Sink tries again after 0.1 s, and then after delays that
// double up to 30 s, with a random part.
//
// With a Spill, [sink.Queue.Flush] returns when the lines are on the disk.
type Sink struct {
	*sink.Queue
	courier   *courier
	forwarder *forwarder // nil without a Spill
}

// New returns a Sink. Its Close closes the destination. An error is one of the folder of
// o.Spill; then the caller closes the destination.
func New(to Destination, o Options) (*Sink, error) {
	s := &Sink{courier: newCourier(to)}
	if o.Spill.Folder == "" {
		s.Queue = sink.NewQueue(&writer{courier: s.courier, source: spool.NewID()}, o.queue())
		return s, nil
	}
	f, err := newForwarder(s.courier, o)
	if err != nil {
		return nil, err
	}
	s.forwarder = f
	f.queue = sink.NewQueue(&keeper{forwarder: f, direct: writer{courier: s.courier, source: spool.NewID()}}, o.queue())
	s.Queue = f.queue
	f.start()
	return s, nil
}

// Change replaces the options, except the folder of the Spill. See also [sink.Queue.Change].
func (s *Sink) Change(o Options, own log.Options) {
	s.Queue.Change(o.queue(), own)
	if s.forwarder != nil {
		s.forwarder.change(o)
	}
}

// Use replaces the destination by another one, which gets the lines that wait, and closes the
// one before. It cancels a delivery in progress, whose batch is delivered again, and ends a wait before
// the next attempt.
func (s *Sink) Use(to Destination) error {
	before := s.courier.use(to)
	s.Queue.Retry()
	return s.courier.closeReplaced(before)
}

// Stats returns the counts so far. Events count as written when they are delivered, and as
// waiting in memory or on the disk. WaitingBytes are the bytes in memory.
func (s *Sink) Stats() sink.Stats {
	if s.forwarder == nil {
		return s.Queue.Stats()
	}
	return s.forwarder.stats()
}

// Spilled returns the number of events on the disk that are not delivered, and the bytes of
// the files.
func (s *Sink) Spilled() (events uint64, bytes int64) {
	if s.forwarder == nil {
		return 0, 0
	}
	return s.forwarder.store.Waiting()
}

// Close delivers the waiting lines and closes the destination. If ctx ends first, it drops
// the remaining lines as "closed", and returns an error with their number. Lines on a disk
// stay there instead: a later Sink with the same folder delivers them. Close may be called more
// than once. It does not wait for a disk that does not respond after the end of ctx.
func (s *Sink) Close(ctx context.Context) error {
	stop := context.AfterFunc(ctx, s.courier.end)
	defer stop()
	err := s.Queue.Close(ctx)
	if s.forwarder != nil {
		err = cmp.Or(err, s.forwarder.close(ctx))
	}
	s.courier.end()
	return cmp.Or(err, s.courier.close())
}

var _ log.EventWriter = (*Sink)(nil)
