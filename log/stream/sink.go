package stream

import (
	"context"
	"crypto/rand"
	"encoding/hex"

	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/sink"
)

// Options are the settings of a [Sink]. The zero value is ready for use.
type Options struct {
	Queue sink.QueueOptions
}

// A Sink delivers lines to a [Destination] in a goroutine of its own. Make one with [New].
// Any number of goroutines may use it.
//
// The lines that are not delivered yet are in a [sink.Queue], whose options limit their
// memory and say which lines to drop. While the server is not available, the Sink tries
// again after 0.1 s, and then after delays that double up to 30 s, with a random part.
type Sink struct {
	*sink.Queue
	courier *courier
}

// New returns a Sink. Its Close closes the destination. After an error, the caller does.
func New(to Destination, o Options) (*Sink, error) {
	s := &Sink{courier: newCourier(to)}
	s.Queue = sink.NewQueue(&writer{courier: s.courier, source: newSource()}, o.Queue)
	return s, nil
}

// Use replaces the destination by another one, which gets the lines that wait, and closes the
// one before. It cancels a delivery in progress, whose batch is delivered again.
func (s *Sink) Use(to Destination) error { return s.courier.use(to) }

// newSource returns a name that no other source has.
func newSource() string {
	var b [16]byte
	rand.Read(b[:]) // does not fail on the supported systems
	return hex.EncodeToString(b[:])
}

// Close delivers the waiting lines and closes the destination. If ctx ends first, it drops
// the remaining lines as "closed", and returns an error with their number.
func (s *Sink) Close(ctx context.Context) error {
	stop := context.AfterFunc(ctx, s.courier.end)
	defer stop()
	err := s.Queue.Close(ctx)
	s.courier.end()
	if closeErr := s.courier.close(); err == nil {
		err = closeErr
	}
	return err
}

var _ log.EventWriter = (*Sink)(nil)
