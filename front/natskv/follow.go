// Package natskv follows keys in buckets of NATS, for lists of servers that a front door watches.
package natskv

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirhq/weir/log/natssink"
)

const (
	// checkInterval is the interval at which a value is read again. It notices that the server does
	// not respond, and that the bucket was deleted, of which a watch reports nothing.
	checkInterval = 5 * time.Second

	// timeout limits one request to the server.
	timeout = 3 * time.Second

	// minPause and maxPause are the limits of the time between two attempts.
	minPause, maxPause = 250 * time.Millisecond, 5 * time.Second
)

// Follow returns a function that follows the key with a URL, nats://host:4222/BUCKET/KEY, with the
// parameters of [natssink.Parse]. Until ctx is done, the function calls changed with the value at
// the start and after each change, or with the reason why there is none, once for each reason. After
// a reason, it calls changed with the value, also if that is the same as before. It connects when it
// is called, and again after the loss of the connection.
func Follow(url string) (func(ctx context.Context, changed func(value []byte, err error)), error) {
	a, err := natssink.Parse(url)
	if err != nil {
		return nil, err
	}
	o := a.Options
	o.Name, o.AllowReconnect, o.Timeout = "weir", false, timeout    // each attempt begins with a new connection
	o.AsyncErrorCB = func(*nats.Conn, *nats.Subscription, error) {} // the default writes to stderr
	f := &follower{options: o}
	f.bucket, f.key, _ = strings.Cut(a.Subject, "/")
	return f.follow, nil
}

// A follower follows a key.
type follower struct {
	options     nats.Options
	bucket, key string
}

// follow is the function that Follow returns.
func (f *follower) follow(ctx context.Context, changed func([]byte, error)) {
	reported := ""
	report := func(value []byte, err error) {
		switch {
		case err == nil:
			reported = ""
			changed(value, nil)
		case err.Error() != reported:
			reported = err.Error()
			changed(nil, err)
		}
	}
	for pause := minPause; ; pause = min(2*pause, maxPause) {
		began := time.Now()
		err := f.watch(ctx, report)
		if ctx.Err() != nil {
			return
		}
		report(nil, err)
		if time.Since(began) > checkInterval {
			pause = minPause
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause/2 + rand.N(pause/2)):
		}
	}
}

// watch connects and reports values and missing values, until an error.
func (f *follower) watch(ctx context.Context, report func([]byte, error)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	o := f.options
	o.CustomDialer = dialer{ctx}
	conn, err := o.Connect()
	if err != nil {
		return fmt.Errorf("NATS: %w", err)
	}
	defer conn.Close()
	closed := conn.StatusChanged(nats.CLOSED)
	bucket, err := f.open(ctx, conn)
	if err != nil {
		return err
	}
	watcher, err := bucket.Watch(ctx, f.key)
	if err != nil {
		return f.explain(conn, err)
	}
	check := time.NewTicker(checkInterval)
	defer check.Stop()
	var revision uint64 // of the value that was reported, or 0
	note := func(e jetstream.KeyValueEntry) {
		if e.Operation() != jetstream.KeyValuePut {
			revision = 0
			report(nil, f.missing())
		} else if e.Revision() != revision {
			revision = e.Revision()
			report(e.Value(), nil)
		}
	}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-closed:
			return f.explain(conn, nats.ErrConnectionClosed)
		case e, open := <-watcher.Updates():
			switch {
			case !open:
				return f.explain(conn, nats.ErrConnectionClosed)
			case e != nil:
				note(e)
			case revision == 0: // there is no earlier value
				report(nil, f.missing())
			}
		case <-check.C:
			e, err := f.get(ctx, bucket)
			switch {
			case errors.Is(err, jetstream.ErrKeyNotFound):
				revision = 0
				report(nil, f.missing())
			case err != nil:
				return f.explain(conn, err)
			default:
				note(e)
			}
		}
	}
}

// A dialer makes connections that end with a context. The client itself waits for a server that does
// not respond.
type dialer struct{ ctx context.Context }

// Dial implements nats.CustomDialer.
func (d dialer) Dial(network, address string) (net.Conn, error) {
	c, err := (&net.Dialer{Timeout: timeout}).DialContext(d.ctx, network, address)
	if err == nil {
		context.AfterFunc(d.ctx, func() { c.Close() })
	}
	return c, err
}

// open returns the bucket.
func (f *follower) open(ctx context.Context, conn *nats.Conn) (jetstream.KeyValue, error) {
	js, err := jetstream.New(conn)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	bucket, err := js.KeyValue(ctx, f.bucket)
	if err != nil {
		return nil, f.explain(conn, err)
	}
	return bucket, nil
}

func (f *follower) get(ctx context.Context, bucket jetstream.KeyValue) (jetstream.KeyValueEntry, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if _, err := bucket.Status(ctx); err != nil {
		return nil, err
	}
	return bucket.Get(ctx, f.key)
}

func (f *follower) missing() error { return fmt.Errorf("the bucket %q has no key %q", f.bucket, f.key) }

// explain returns an error of a request with the reason, if the server has given one.
func (f *follower) explain(conn *nats.Conn, err error) error {
	switch last := conn.LastError(); {
	case errors.Is(err, jetstream.ErrBucketNotFound), errors.Is(err, jetstream.ErrStreamNotFound):
		err = fmt.Errorf("there is no bucket %q: create it, as in nats kv add %s", f.bucket, f.bucket)
	case last != nil:
		err = last
	case errors.Is(err, context.DeadlineExceeded):
		err = errors.New("the server does not respond")
	}
	return fmt.Errorf("NATS: %w", err)
}
