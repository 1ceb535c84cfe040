package otlpsink

import (
	"bytes"
	"context"
	"os"
	"time"

	"github.com/weirhq/weir/log/stream"
)

// maxSplits limits the requests into which a batch is divided. One line that the server
// refuses takes one for each power of two below the number of lines.
const maxSplits = 32

// A Destination sends lines to a server. Make one with [New] or [NewSpans].
type Destination struct {
	signal  *signal
	client  *Client
	encoder encoder
}

var (
	logs = signal{path: "/v1/logs", scope: "github.com/weirhq/weir/log", items: "events",
		attributes: recordAttributes, hasUID: true, event: (*encoder).logRecord, text: (*encoder).logText}
	spans = signal{path: "/v1/traces", scope: "github.com/weirhq/weir", items: "spans",
		attributes: spanAttributes, event: (*encoder).span,
		text: func(e *encoder, line string) { e.buf = appendText(e.buf, spanName, line) }}
)

// New returns a Destination for a URL; the package comment describes its parts. New does not
// wait for the server. Its errors do not contain the user and the password.
func New(url string) (*Destination, error) { return newDestination(url, &logs) }

// NewSpans is New for lines that are spans; see the package comment.
func NewSpans(url string) (*Destination, error) { return newDestination(url, &spans) }

func newDestination(url string, s *signal) (*Destination, error) {
	c, err := NewClient(url, s.path)
	if err != nil {
		return nil, err
	}
	c.items = s.items
	host, _ := os.Hostname() // the attribute is optional
	return &Destination{signal: s, client: c, encoder: encoder{signal: s, now: time.Now, host: host}}, nil
}

// Deliver implements [stream.Destination].
func (d *Destination) Deliver(ctx context.Context, b stream.Batch) error {
	if err := d.client.setHeader(); err != nil {
		return err
	}
	s := delivery{Destination: d, splits: maxSplits}
	if err := s.send(ctx, b); err != nil {
		return err
	}
	if s.rejected > 0 {
		return &stream.RejectedError{Lines: s.rejected, Err: s.cause}
	}
	return nil
}

// Close implements [stream.Destination].
func (d *Destination) Close() error {
	d.client.Close()
	return nil
}

var _ stream.Destination = (*Destination)(nil)

// A delivery is the delivery of one batch.
type delivery struct {
	*Destination
	splits   int   // that are left
	rejected int   // lines
	cause    error // of the last rejection
}

// send sends a batch. If the server refuses it because of its lines, send divides it.
func (s *delivery) send(ctx context.Context, b stream.Batch) error {
	r, err := s.client.post(ctx, s.encoder.request(b), b.Count)
	switch {
	case err != nil:
		return err
	case r.divisible && b.Count > 1 && s.splits > 0:
		s.splits--
		head, tail := halves(b)
		if err := s.send(ctx, head); err != nil {
			return err
		}
		return s.send(ctx, tail)
	case r.lines > 0:
		s.rejected += r.lines
		s.cause = r.cause
	}
	return nil
}

// halves divides a batch of several lines.
func halves(b stream.Batch) (head, tail stream.Batch) {
	head, tail = b, b
	head.Count = b.Count / 2
	tail.Count -= head.Count
	tail.First += uint64(head.Count)
	for range head.Count {
		tail.Lines = tail.Lines[bytes.IndexByte(tail.Lines, '\n')+1:]
	}
	head.Lines = b.Lines[:len(b.Lines)-len(tail.Lines)]
	return head, tail
}
