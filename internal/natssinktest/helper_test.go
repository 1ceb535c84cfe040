package natssinktest

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirhq/weir/internal/peer"
	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/natssink"
	"github.com/weirhq/weir/log/sink"
	"github.com/weirhq/weir/log/stream"
)

const subject = "logs.front-door"

// limit is the time in which a server or a log must reach a state.
const limit = 30 * time.Second

// connect connects a client that does not belong to the log.
func connect(t *testing.T, n *peer.NATS, options ...nats.Option) jetstream.JetStream {
	t.Helper()
	conn, err := nats.Connect(n.URL, append(options, nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	return js
}

// createStream creates the stream LOGS. The configuration may lack the name and the subjects.
func createStream(t *testing.T, js jetstream.JetStream, c jetstream.StreamConfig) jetstream.Stream {
	t.Helper()
	c.Name, c.Subjects = "LOGS", []string{"logs.>"}
	var s jetstream.Stream
	await(t, "creating the stream", func() (err error) {
		s, err = js.CreateOrUpdateStream(t.Context(), c)
		return err
	})
	return s
}

// await waits until ready returns nil.
func await(t *testing.T, what string, ready func() error) {
	t.Helper()
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		err := ready()
		if err == nil {
			return
		}
		if time.Since(began) > limit {
			t.Fatalf("%s: after %v: %v", what, limit, err)
		}
	}
}

// A tested is a log with one destination.
type tested struct {
	t      *testing.T
	sink   *stream.Sink
	logger *log.Logger

	mu      sync.Mutex // guards the fields below
	emitted int        // events of this test
	stop    chan struct{}
	writers sync.WaitGroup
}

// open opens a log for a URL. The end of the test closes it.
func open(t *testing.T, url string) *tested {
	t.Helper()
	to, err := natssink.New(url)
	if err != nil {
		t.Fatal(err)
	}
	s, err := stream.New(to, stream.Options{Queue: sink.QueueOptions{Bytes: 64 << 20, Linger: time.Millisecond}})
	if err != nil {
		t.Fatal(err)
	}
	l := &tested{t: t, sink: s, logger: log.New(s, log.Options{Namespace: "test"}), stop: make(chan struct{})}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		s.Close(ctx)
	})
	return l
}

// emit logs n events, numbered over all calls.
func (l *tested) emit(n int) {
	for range n {
		l.mu.Lock()
		l.emitted++
		number := l.emitted
		l.mu.Unlock()
		l.logger.Info("numbered").Int("n", number).Send()
	}
}

// load logs events from several goroutines until end is called.
func (l *tested) load() {
	for range 3 {
		l.writers.Go(func() {
			for {
				select {
				case <-l.stop:
					return
				case <-time.After(2 * time.Millisecond):
					l.emit(5)
				}
			}
		})
	}
}

// end ends the load.
func (l *tested) end() {
	close(l.stop)
	l.writers.Wait()
}

// abandon closes the log while the server is away. lost events wait then.
func (l *tested) abandon(lost uint64) {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	if err := l.sink.Close(ctx); err == nil {
		l.t.Error("closed without an error")
	}
	if s := l.check(); s.Lost() != lost || s.Waiting != 0 {
		l.t.Errorf("%d events lost and %d waiting, want %d lost", s.Lost(), s.Waiting, lost)
	}
}

// check checks the identity of the counts.
func (l *tested) check() sink.Stats {
	l.t.Helper()
	s := l.sink.Stats()
	if s.Emitted != s.Written+s.Lost()+s.Waiting {
		l.t.Errorf("%d events emitted, want %d delivered + %d dropped + %d waiting", s.Emitted, s.Written, s.Lost(),
			s.Waiting)
	}
	return s
}

// awaitDelivery waits until all events are delivered or dropped.
func (l *tested) awaitDelivery() sink.Stats {
	l.t.Helper()
	await(l.t, "delivery", func() error {
		if s := l.check(); s.Waiting > 0 {
			return fmt.Errorf("%d of %d events wait; last error: %v", s.Waiting, s.Emitted, s.LastError)
		}
		return nil
	})
	return l.check()
}

// awaitError waits until the last error contains a text.
func (l *tested) awaitError(want string) {
	l.t.Helper()
	await(l.t, "error", func() error {
		if err := l.check().LastError; err == nil || !strings.Contains(err.Error(), want) {
			return fmt.Errorf("%v, want %q", err, want)
		}
		return nil
	})
}

// read reads the lines of the stream. unseen are those that [natssink.Seen] returns.
func read(t *testing.T, js jetstream.JetStream) (all, unseen []string) {
	t.Helper()
	s, err := js.Stream(t.Context(), "LOGS")
	if err != nil {
		t.Fatal(err)
	}
	var seen natssink.Seen
	state := s.CachedInfo().State
	for number := state.FirstSeq; number <= state.LastSeq; number++ {
		m, err := s.GetMsg(t.Context(), number)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, lines(m.Data)...)
		unseen = append(unseen, lines(seen.New(m.Header.Get(nats.MsgIdHdr), m.Data))...)
	}
	return all, unseen
}

func lines(text []byte) []string {
	if len(text) == 0 {
		return nil
	}
	return strings.Split(string(bytes.TrimSuffix(text, []byte("\n"))), "\n")
}

// checkLines checks that the lines are those that the log has delivered, each once.
func (l *tested) checkLines(got []string) {
	l.t.Helper()
	times := map[string]int{} // by the end of the line, which is the number of the event
	for _, line := range got {
		_, number, _ := strings.Cut(line, `"n":`)
		times[number]++
	}
	for number, n := range times {
		if n > 1 && number != "" {
			l.t.Fatalf("the stream has event %s %d times", number, n)
		}
	}
	s := l.check()
	if uint64(len(got)) != s.Written {
		l.t.Errorf("the stream has %d events, want %d, which were delivered", len(got), s.Written)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for n := 1; n <= l.emitted && s.Lost() == 0; n++ {
		if times[fmt.Sprintf("%d}}", n)] == 0 {
			l.t.Errorf("event %d is not in the stream", n)
		}
	}
}

// A relay passes connections on to a server. It can cut the network.
type relay struct {
	address string

	mu   sync.Mutex // guards the fields below
	cut  bool       // whether bytes disappear
	deaf bool       // whether the bytes of the server disappear
}

func newRelay(t *testing.T, server string) *relay {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{address: listener.Addr().String()}
	var all sync.WaitGroup
	var mu sync.Mutex
	var conns []net.Conn
	all.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			upstream, err := net.Dial("tcp", server)
			if err != nil {
				client.Close()
				continue
			}
			mu.Lock()
			conns = append(conns, client, upstream)
			mu.Unlock()
			all.Go(func() { r.pass(upstream, client, func() bool { return r.cut }) })
			all.Go(func() { r.pass(client, upstream, func() bool { return r.cut || r.deaf }) })
		}
	})
	t.Cleanup(func() {
		listener.Close()
		mu.Lock()
		for _, c := range conns {
			c.Close()
		}
		mu.Unlock()
		all.Wait()
	})
	return r
}

// set changes the faults.
func (r *relay) set(cut, deaf bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cut, r.deaf = cut, deaf
}

// pass copies bytes unless lost returns true. Both ends stay open then.
func (r *relay) pass(to, from net.Conn, lost func() bool) {
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if err != nil {
			to.Close()
			return
		}
		r.mu.Lock()
		gone := lost()
		r.mu.Unlock()
		if !gone {
			to.Write(buf[:n])
		}
	}
}
