package natssink

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirhq/weir/log/stream"
)

// ackTime is the time after which a message without an acknowledgement is sent again, over
// another connection. A batch may be many messages.
const ackTime = 5 * time.Second

// A Destination publishes lines to a subject. Make one with [New].
type Destination struct {
	subject string
	options nats.Options
	cluster cluster
	limit   int // bytes of a message with several lines

	// The connection, or nil. It does not reconnect by itself: the next Deliver makes
	// another one.
	conn   *nats.Conn
	server string // its URL
	stream jetstream.JetStream

	mu     sync.Mutex              // guards the fields below
	socket net.Conn                // of the connection, or of the attempt in progress
	cancel context.CancelCauseFunc // ends the delivery in progress
}

// New returns a Destination for the subject of a URL; see [Parse]. The options apply in
// addition, such as [nats.Name]. New does not wait for a server: the first Deliver connects.
func New(url string, options ...nats.Option) (*Destination, error) {
	a, err := Parse(url)
	if err != nil {
		return nil, err
	}
	if isPattern(a.Subject) {
		return nil, fmt.Errorf("the subject %q has a wildcard: an event has one subject", a.Subject)
	}
	d := &Destination{subject: a.Subject, options: a.Options, limit: math.MaxInt}
	for _, option := range options {
		if err := option(&d.options); err != nil {
			return nil, err
		}
	}
	d.cluster.named = d.options.Servers
	d.options.AllowReconnect = false
	given := d.options.AsyncErrorCB
	d.options.AsyncErrorCB = func(c *nats.Conn, s *nats.Subscription, err error) {
		if errors.Is(err, nats.ErrPermissionViolation) {
			d.cancelDelivery(err)
		}
		if given != nil {
			given(c, s, err)
		}
	}
	return d, nil
}

// cancelDelivery cancels the delivery in progress. The server sends no acknowledgement, but
// this error.
func (d *Destination) cancelDelivery(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.cancel != nil {
		d.cancel(err)
	}
}

// Deliver implements [stream.Destination].
func (d *Destination) Deliver(ctx context.Context, b stream.Batch) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(ackTime, func() { cancel(fmt.Errorf("no acknowledgement within %s", ackTime)) })
	defer timer.Stop()
	d.mu.Lock()
	d.cancel = cancel
	d.mu.Unlock()
	// A server that does not read or respond can hold up all calls of the client.
	stop := context.AfterFunc(ctx, d.closeSocket)
	defer stop()
	if err := d.connect(ctx); err != nil {
		return err
	}
	rejected := 0
	var cause error
	for text, first := b.Lines, 0; len(text) > 0; {
		part := head(text, d.limit)
		lines := bytes.Count(part, []byte("\n"))
		id := strconv.AppendInt(append(b.AppendID(nil, first), '-'), int64(lines), 10)
		timer.Reset(ackTime)
		err := d.publish(ctx, part, string(id))
		switch {
		case isTooLarge(err) && lines > 1:
			d.limit = len(part) / 2
			continue
		case isTooLarge(err):
			rejected, cause = rejected+1, err
		case err != nil:
			return d.explain(ctx, err)
		}
		text, first = text[len(part):], first+lines
	}
	if rejected > 0 {
		return &stream.RejectedError{Lines: rejected, Err: fmt.Errorf("a line is too long for a message: %w", cause)}
	}
	return nil
}

// head returns the first lines of text that have at most limit bytes together, and at least
// one line.
func head(text []byte, limit int) []byte {
	if len(text) <= limit {
		return text
	}
	if end := bytes.LastIndexByte(text[:limit], '\n'); end >= 0 {
		return text[:end+1]
	}
	return text[:bytes.IndexByte(text, '\n')+1]
}

// publish sends a message and waits for the acknowledgement of the stream.
func (d *Destination) publish(ctx context.Context, lines []byte, id string) error {
	_, err := d.stream.PublishMsg(ctx, &nats.Msg{Subject: d.subject, Data: lines}, jetstream.WithMsgID(id),
		jetstream.WithRetryAttempts(0))
	return err
}

// explain adds the remedy to an error, if it is known. It closes a connection
// whose server has not responded.
func (d *Destination) explain(ctx context.Context, err error) error {
	if errors.Is(err, jetstream.ErrNoStreamResponse) {
		return noStreamError(d.subject)
	}
	var of *jetstream.APIError
	if errors.As(err, &of) {
		return fmt.Errorf("the stream for the subject %s: %w", d.subject, of)
	}
	d.conn.Close()
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	return fmt.Errorf("NATS at %s: %w", d.server, err)
}

// connect connects to a server, unless there is a connection.
func (d *Destination) connect(ctx context.Context) error {
	if d.conn != nil && d.conn.IsConnected() {
		return nil
	}
	if d.conn != nil {
		d.cluster.learn(d.conn.Servers())
		d.conn.Close()
		d.conn = nil
	}
	conn, err := d.dialCluster(ctx)
	servers := strings.Join(d.cluster.all(), ", ")
	switch {
	case errors.Is(err, nats.ErrNoServers):
		return fmt.Errorf("no server of NATS accepts connections at %s", servers)
	case err != nil:
		return fmt.Errorf("NATS at %s: %w", servers, err)
	}
	d.conn, d.server = conn, conn.ConnectedUrlRedacted()
	if state, err := conn.TLSConnectionState(); err == nil {
		d.cluster.host = state.ServerName
	}
	d.stream, err = jetstream.New(conn)
	return err
}

// dialCluster connects to a server of the cluster.
func (d *Destination) dialCluster(ctx context.Context) (conn *nats.Conn, err error) {
	attempts := d.cluster.attempts(d.options)
	for _, options := range attempts {
		part, cancel := context.WithTimeout(ctx, ackTime/time.Duration(len(attempts)))
		conn, failure := d.dial(part, options)
		cancel()
		if failure == nil {
			return conn, nil
		}
		if err == nil || errors.Is(err, nats.ErrNoServers) {
			err = failure
		}
	}
	return nil, err
}

// dial connects to one of the servers of the options. The end of ctx ends the attempt.
func (d *Destination) dial(ctx context.Context, options nats.Options) (*nats.Conn, error) {
	stop := context.AfterFunc(ctx, d.closeSocket)
	defer stop()
	options.CustomDialer = dialer{ctx, d}
	return options.Connect()
}

// A dialer dials for a Destination, and keeps the socket there.
type dialer struct {
	ctx context.Context
	d   *Destination
}

// Dial implements [nats.CustomDialer].
func (d dialer) Dial(network, address string) (c net.Conn, err error) {
	if given := d.d.options.CustomDialer; given != nil {
		c, err = given.Dial(network, address)
	} else {
		c, err = (&net.Dialer{Timeout: d.d.options.Timeout}).DialContext(d.ctx, network, address)
	}
	if err != nil {
		return nil, err
	}
	d.d.mu.Lock()
	defer d.d.mu.Unlock()
	d.d.socket = c
	return c, nil
}

// closeSocket ends the connection, also while the client is waiting for it.
func (d *Destination) closeSocket() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.socket != nil {
		d.socket.Close()
	}
}

// Close implements [stream.Destination].
func (d *Destination) Close() error {
	if d.conn != nil {
		d.conn.Close()
	}
	return nil
}

var _ stream.Destination = (*Destination)(nil)
