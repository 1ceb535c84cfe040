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
	"github.com/weirhq/weir/internal/streamtest"
	"github.com/weirhq/weir/internal/testkit"
	"github.com/weirhq/weir/log/natssink"
)

const subject = "logs.front-door"

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
	testkit.AwaitNil(t, "creating the stream", func() (err error) {
		s, err = js.CreateOrUpdateStream(t.Context(), c)
		return err
	})
	return s
}

// A tested is a log whose events go to JetStream.
type tested struct {
	*streamtest.Log
	t *testing.T
}

// open opens a log for a URL. The end of the test closes it.
func open(t *testing.T, url string) *tested {
	t.Helper()
	to, err := natssink.New(url)
	if err != nil {
		t.Fatal(err)
	}
	return &tested{streamtest.Open(t, to), t}
}

// abandon closes the log while the server is away. lost events wait then.
func (l *tested) abandon(lost uint64) {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	if err := l.Sink.Close(ctx); err == nil {
		l.t.Error("closed without an error")
	}
	if s := l.Check(); s.Lost() != lost || s.Waiting != 0 {
		l.t.Errorf("%d events lost and %d waiting, want %d lost", s.Lost(), s.Waiting, lost)
	}
}

// read reads the lines of the stream. unseen are those that [natssink.Seen] returns.
func read(t *testing.T, js jetstream.JetStream) (all, unseen []string) {
	t.Helper()
	all, _, unseen = readUntil(t, js)
	return all, unseen
}

// readUntil reads the lines of the stream, and returns the number of the last message too.
func readUntil(t *testing.T, js jetstream.JetStream) (all []string, last uint64, unseen []string) {
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
	return all, state.LastSeq, unseen
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
	s := l.Check()
	if uint64(len(got)) != s.Written {
		l.t.Errorf("the stream has %d events, want %d, which were delivered", len(got), s.Written)
	}
	for n := 1; n <= l.Emitted() && s.Lost() == 0; n++ {
		if times[fmt.Sprintf("%d}}", n)] == 0 {
			l.t.Errorf("event %d is not in the stream", n)
		}
	}
}

// A relay passes connections on to a server. It can cut the network.
type relay struct {
	address string

	mu   sync.Mutex    // guards the fields below
	cut  bool          // whether bytes disappear
	deaf bool          // whether the bytes of the server disappear
	slow time.Duration // the delay of each read
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

// slowDown delays each read.
func (r *relay) slowDown(by time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.slow = by
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
		gone, delay := lost(), r.slow
		r.mu.Unlock()
		time.Sleep(delay)
		if !gone {
			to.Write(buf[:n])
		}
	}
}
