package tail

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
	"github.com/weirhq/weir/internal/follow"
	"github.com/weirhq/weir/log/natssink"
)

const (
	// apiTime is the time in which a server of NATS must respond.
	apiTime = 5 * time.Second

	// The server sends a message at least as often as heartbeat while there are no events.
	heartbeat = 2 * time.Second

	// retryEvery is the interval at which a stream that cannot be read is tried again.
	retryEvery = time.Second
)

// isSubject reports whether the name of an input is the URL of a subject of NATS.
func isSubject(name string) bool {
	return strings.HasPrefix(name, "nats://") || strings.HasPrefix(name, "tls://")
}

// A subject reads the messages of a stream of NATS JetStream that have a subject.
type subject struct {
	name    string // the URL without secrets
	subject string
	stream  string
	conn    *nats.Conn
	js      jetstream.JetStream
	start   follow.Start
	since   time.Time // instead of start, unless zero
	follow  bool
	warn    func(string)

	first, end uint64    // sequence numbers of the stream's first and last messages when it was opened
	created    time.Time // of the stream
	seen       natssink.Seen

	reconnected chan struct{} // receives a value when the client has connected again
}

// openSubject connects to a server of NATS and finds the stream of a subject.
func openSubject(url string, s *subject) error {
	a, err := natssink.Parse(url)
	if err != nil {
		return cli.Misuse(err, "weir tail 'nats://host:4222/subject'; docs/nats.md describes the URL")
	}
	s.subject, s.reconnected = a.Subject, make(chan struct{}, 1)
	s.name = strings.Join(a.Options.Servers, ",") + "/" + a.Subject
	o := a.Options
	o.Name, o.MaxReconnect, o.ReconnectWait, o.IgnoreAuthErrorAbort = "weir tail", -1, retryEvery, true
	o.AsyncErrorCB = func(*nats.Conn, *nats.Subscription, error) {} // calls return the errors
	o.DisconnectedErrCB = func(c *nats.Conn, err error) {
		if s.follow && err != nil { // not by Close
			s.warn(fmt.Sprintf("%s: the connection was lost: %v", s.name, err))
		}
	}
	o.ReconnectedCB = func(*nats.Conn) {
		if s.follow {
			s.warn(s.name + ": connected again")
		}
		select {
		case s.reconnected <- struct{}{}:
		default:
		}
	}
	if s.conn, err = o.Connect(); err != nil {
		return cli.WithHint(fmt.Errorf("%s: %w", s.name, err), "the server must run, and accept this user")
	}
	if err := s.find(); err != nil {
		s.conn.Close()
		return err
	}
	return nil
}

// find finds the stream.
func (s *subject) find() (err error) {
	if s.js, err = jetstream.New(s.conn); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), apiTime)
	defer cancel()
	var names []string
	list := s.js.StreamNames(ctx, jetstream.WithStreamListSubject(s.subject))
	for name := range list.Name() {
		names = append(names, name)
	}
	switch err := list.Err(); {
	case errors.Is(err, nats.ErrNoResponders), errors.Is(err, jetstream.ErrJetStreamNotEnabled):
		return cli.WithHint(fmt.Errorf("%s: the server has no JetStream", s.name), "nats-server --jetstream")
	case err != nil:
		return fmt.Errorf("%s: %w", s.name, err)
	case len(names) == 0:
		return cli.WithHint(fmt.Errorf("%s: no stream of JetStream stores this subject", s.name),
			fmt.Sprintf("nats stream ls shows the streams; nats stream add LOGS --subjects '%s' --defaults creates one", s.subject))
	case len(names) > 1:
		return cli.Misuse(fmt.Errorf("%s: the streams %s store this subject", s.name, strings.Join(names, " and ")),
			"name a subject of one of them")
	}
	s.stream = names[0]
	stream, err := s.js.Stream(ctx, s.stream)
	if err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	info := stream.CachedInfo()
	s.first, s.end, s.created = info.State.FirstSeq, info.State.LastSeq, info.Created
	return nil
}

// read sends the lines of the stream's messages, until it has sent those that were asked for or send reports false.
func (s *subject) read(ctx context.Context, send func(lines []byte) bool) error {
	err := s.history(ctx, send)
	if err == nil && s.follow {
		err = s.later(ctx, send)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	return nil
}

// errTaken ends consume.
var errTaken = errors.New("no more messages are wanted")

// history reads the messages that were in the stream when it was opened.
func (s *subject) history(ctx context.Context, send func(lines []byte) bool) error {
	from := jetstream.OrderedConsumerConfig{DeliverPolicy: jetstream.DeliverAllPolicy}
	switch {
	case s.end == 0:
		return nil
	case !s.since.IsZero():
		from.DeliverPolicy, from.OptStartTime = jetstream.DeliverByStartTimePolicy, &s.since
	case s.start.FromEnd:
		return s.last(ctx, send)
	}
	return s.until(ctx, from, func(lines []byte) error {
		if !send(lines) {
			return errTaken
		}
		return nil
	})
}

// last reads the last lines. It does not know how many lines a message has, nor how many
// messages of the stream have the subject. It therefore reads the last messages, and more
// of them until there are enough lines.
func (s *subject) last(ctx context.Context, send func(lines []byte) bool) error {
	n := uint64(s.start.Lines)
	if n == 0 {
		return nil
	}
	for messages := n; ; messages *= 8 {
		from := jetstream.OrderedConsumerConfig{DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: s.first}
		if s.end-s.first >= messages {
			from.OptStartSeq = s.end - messages + 1
		}
		last := lastLines{n: s.start.Lines}
		var cut follow.Lines
		s.seen = natssink.Seen{}
		err := s.until(ctx, from, func(lines []byte) error {
			return cut.Cut(lines, func(line []byte, whole bool) error {
				last.add(line, whole)
				return nil
			})
		})
		if err != nil {
			return err
		}
		if len(last.lines) == s.start.Lines || from.OptStartSeq == s.first {
			return last.each(func(line []byte, _ bool) error {
				if !send(line) {
					return errTaken
				}
				return nil
			})
		}
	}
}

// until calls take with the lines of messages, until those that were in the stream when it
// was opened have been read.
func (s *subject) until(ctx context.Context, from jetstream.OrderedConsumerConfig, take func(lines []byte) error) error {
	err := s.consume(ctx, from, apiTime, func(m jetstream.Msg, at *jetstream.MsgMetadata) error {
		if at.Sequence.Stream > s.end {
			return errTaken
		}
		if err := take(s.lines(m)); err != nil {
			return err
		}
		if at.Sequence.Stream == s.end || at.NumPending == 0 {
			return errTaken
		}
		return nil
	})
	if errors.Is(err, errTaken) {
		return nil
	}
	return err
}

// errReplaced is the error for a stream of the same name whose messages have other numbers.
var errReplaced = errors.New("the stream was deleted and created again")

// later reads the messages that come after the history, until ctx ends or the stream is
// deleted.
func (s *subject) later(ctx context.Context, send func(lines []byte) bool) error {
	next := s.end + 1
	warned := false
	for {
		from := jetstream.OrderedConsumerConfig{DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: next}
		connected, cancel := s.untilReconnected(ctx)
		err := s.consume(connected, from, 0, func(m jetstream.Msg, at *jetstream.MsgMetadata) error {
			next, warned = at.Sequence.Stream+1, false
			if !send(s.lines(m)) {
				return errTaken
			}
			return nil
		})
		again := connected.Err() != nil
		cancel()
		if ctx.Err() != nil || errors.Is(err, jetstream.ErrStreamNotFound) {
			return err
		}
		if s.isReplaced(ctx) {
			return errReplaced
		}
		if again {
			continue
		}
		if !warned && s.conn.IsConnected() {
			s.warn(fmt.Sprintf("%s: %v; trying again", s.name, err))
			warned = true
		}
		select {
		case <-time.After(retryEvery):
		case <-ctx.Done():
		}
	}
}

// untilReconnected returns a context that ends when the client has connected again. The stream may
// then be another one, of which a consumer waits for the message after those that it has read.
func (s *subject) untilReconnected(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(parent)
	go func() {
		select {
		case <-s.reconnected:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// isReplaced reports whether the stream was deleted and created again since it was opened.
func (s *subject) isReplaced(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, apiTime)
	defer cancel()
	stream, err := s.js.Stream(ctx, s.stream)
	return err == nil && !stream.CachedInfo().Created.Equal(s.created)
}

// consume calls take for each message until that returns an error, ctx ends, or reading
// fails. If patience is positive, a message must come in this time.
func (s *subject) consume(ctx context.Context, from jetstream.OrderedConsumerConfig, patience time.Duration,
	take func(jetstream.Msg, *jetstream.MsgMetadata) error) error {
	from.FilterSubjects = []string{s.subject}
	from.MaxResetAttempts = 1
	from.InactiveThreshold = time.Minute
	opening, cancel := context.WithTimeout(ctx, apiTime)
	defer cancel()
	consumer, err := s.js.OrderedConsumer(opening, s.stream, from)
	if err != nil {
		return err
	}
	if patience > 0 && consumer.CachedInfo().NumPending == 0 {
		return nil
	}
	messages, err := consumer.Messages(jetstream.PullHeartbeat(heartbeat), jetstream.PullExpiry(5*heartbeat))
	if err != nil {
		return err
	}
	defer messages.Stop()
	next := jetstream.NextContext(ctx)
	if patience > 0 {
		next = jetstream.NextMaxWait(patience)
	}
	for ctx.Err() == nil {
		m, err := messages.Next(next)
		if errors.Is(err, nats.ErrTimeout) {
			return fmt.Errorf("the server has sent nothing for %s", patience)
		}
		if err != nil {
			return err
		}
		at, err := m.Metadata()
		if err != nil {
			return err
		}
		if err := take(m, at); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// lines returns the lines of a message that were in no message before.
func (s *subject) lines(m jetstream.Msg) []byte {
	lines := s.seen.New(m.Headers().Get(nats.MsgIdHdr), m.Data())
	if n := len(lines); n > 0 && lines[n-1] != '\n' { // of another program
		lines = append(lines[:n:n], '\n')
	}
	return lines
}
