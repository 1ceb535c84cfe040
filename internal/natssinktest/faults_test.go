package natssinktest

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirhq/weir/internal/peer"
	"github.com/weirhq/weir/log/natssink"
	"github.com/weirhq/weir/log/stream"
)

// Each event is in the stream once, and lines are in the order of the log.
func TestEachEventIsDeliveredOnce(t *testing.T) {
	t.Parallel()
	n := peer.StartNATS(t, peer.NATSOptions{JetStream: true})
	js := connect(t, n)
	createStream(t, js, jetstream.StreamConfig{})
	l := open(t, n.URL+"/"+subject)
	l.Emit(5000)
	if s := l.AwaitDelivery(); s.Written != 5000 {
		t.Errorf("%d events delivered, want 5000", s.Written)
	}
	all, _ := read(t, js)
	l.checkLines(all)
	if last := all[len(all)-1]; !strings.Contains(last, `"n":5000}`) {
		t.Errorf("last line %s, want event 5000", last)
	}
}

// Events wait until an operator creates the stream.
func TestEventsWaitForMissingStream(t *testing.T) {
	t.Parallel()
	n := peer.StartNATS(t, peer.NATSOptions{JetStream: true})
	l := open(t, n.URL+"/"+subject)
	l.Emit(10)
	l.AwaitError("nats stream add LOGS --subjects 'logs.front-door' --defaults")
	js := connect(t, n)
	createStream(t, js, jetstream.StreamConfig{})
	l.AwaitDelivery()
	all, _ := read(t, js)
	l.checkLines(all)
}

// A server without JetStream is the same as one without the stream.
func TestServerWithoutJetStreamIsReported(t *testing.T) {
	t.Parallel()
	n := peer.StartNATS(t, peer.NATSOptions{})
	l := open(t, n.URL+"/"+subject)
	l.Emit(1)
	l.AwaitError("no stream of JetStream stores the subject " + subject)
	n.Stop()
	l.abandon(1)
}

// Events wait while the stream is full and discards new messages.
func TestEventsWaitForFullStream(t *testing.T) {
	t.Parallel()
	n := peer.StartNATS(t, peer.NATSOptions{JetStream: true})
	js := connect(t, n)
	s := createStream(t, js, jetstream.StreamConfig{MaxBytes: 100 << 10, Discard: jetstream.DiscardNew})
	l := open(t, n.URL+"/"+subject)
	l.Load()
	l.AwaitError("maximum bytes exceeded")
	l.End()
	var got []string
	for l.Check().Waiting > 0 { // several batches may wait
		all, last, _ := readUntil(t, js)
		if err := s.Purge(t.Context(), jetstream.WithPurgeSequence(last+1)); err != nil {
			t.Fatal(err)
		}
		got = append(got, all...)
		time.Sleep(50 * time.Millisecond)
	}
	rest, _ := read(t, js)
	l.checkLines(append(got, rest...))
}

// A line that no message can hold is rejected. The batches are divided.
func TestTooLargeLineIsRejected(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		config string
		stream jetstream.StreamConfig
	}{
		"for the server": {config: "max_payload: 4096\n"},
		"for the stream": {stream: jetstream.StreamConfig{MaxMsgSize: 4096}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := peer.StartNATS(t, peer.NATSOptions{JetStream: true, Config: c.config})
			js := connect(t, n)
			createStream(t, js, c.stream)
			l := open(t, n.URL+"/"+subject)
			l.Emit(500)
			l.Logger.Error("long").Str("text", strings.Repeat("x", 5000)).Send()
			l.Emit(500)
			s := l.AwaitDelivery()
			if s.Lost() != 1 || s.Dropped[0].Reason != "rejected" || !strings.Contains(s.LastError.Error(), "too long") {
				t.Errorf("dropped %v, %v; want one rejected event", s.Dropped, s.LastError)
			}
			l.Emit(1)
			l.AwaitReport(1002)
			all, _ := read(t, js)
			l.checkLines(all)
		})
	}
}

// A batch that is divided into many messages takes longer than the time for an acknowledgement, which is that of one
// message. The batch is delivered with the first attempt.
func TestSlowMessagesOfOneBatchAreDelivered(t *testing.T) {
	t.Parallel()
	n := peer.StartNATS(t, peer.NATSOptions{JetStream: true, Config: "max_payload: 4096\n"})
	js := connect(t, n)
	s := createStream(t, js, jetstream.StreamConfig{})
	r := newRelay(t, n.Address)
	r.slowDown(50 * time.Millisecond) // in each direction
	d, err := natssink.New("nats://" + r.address + "/" + subject)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	const lines = 60
	line := strings.Repeat("x", 3000) + "\n" // one fits into a message
	began := time.Now()
	if err := d.Deliver(t.Context(), stream.Batch{Lines: []byte(strings.Repeat(line, lines)), Count: lines}); err != nil {
		t.Fatalf("after %v: %v", time.Since(began), err)
	}
	if took := time.Since(began); took < 5*time.Second {
		t.Errorf("it took %v, want more than the time for an acknowledgement", took)
	}
	if info, err := s.Info(t.Context()); err != nil || info.State.Msgs != lines {
		t.Errorf("%v, %+v; want %d messages", err, info, lines)
	}
}

// Under load, each event is in the stream once after the server was stopped, killed and cut off.
func TestServerFaultsLoseNoEvent(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]func(n *peer.NATS, r *relay){
		"killed": func(n *peer.NATS, r *relay) {
			n.Stop()
			time.Sleep(300 * time.Millisecond)
			n.Start()
		},
		"stalled": func(n *peer.NATS, r *relay) {
			n.Signal(syscall.SIGSTOP)
			time.Sleep(6 * time.Second) // longer than the time for an acknowledgement
			n.Signal(syscall.SIGCONT)
		},
		"network cut": func(n *peer.NATS, r *relay) {
			r.set(true, false)
			time.Sleep(6 * time.Second)
			r.set(false, false)
		},
		"acknowledgements lost": func(n *peer.NATS, r *relay) {
			r.set(false, true)
			time.Sleep(6 * time.Second)
			r.set(false, false)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := peer.StartNATS(t, peer.NATSOptions{JetStream: true})
			js := connect(t, n)
			createStream(t, js, jetstream.StreamConfig{})
			r := newRelay(t, n.Address)
			l := open(t, "nats://"+r.address+"/"+subject)
			l.Load()
			time.Sleep(200 * time.Millisecond)
			fault(n, r)
			time.Sleep(200 * time.Millisecond)
			l.End()
			if s := l.AwaitDelivery(); s.LastError == nil || s.Lost() > 0 {
				t.Errorf("error %v, %d events lost; want an error and no loss", s.LastError, s.Lost())
			}
			all, _ := read(t, js)
			l.checkLines(all)
		})
	}
}

// A message that was stored, but not acknowledged within the duplicate window, is in the stream
// twice. A consumer with Seen gets its events once.
func TestLongOutageRepeatsStoredMessages(t *testing.T) {
	t.Parallel()
	n := peer.StartNATS(t, peer.NATSOptions{JetStream: true})
	js := connect(t, n)
	createStream(t, js, jetstream.StreamConfig{Duplicates: 100 * time.Millisecond})
	r := newRelay(t, n.Address)
	l := open(t, "nats://"+r.address+"/"+subject)
	l.Emit(10)
	l.AwaitDelivery()
	r.set(false, true)
	l.Emit(10)
	l.AwaitError("no acknowledgement within")
	r.set(false, false)
	l.Emit(10)
	l.AwaitDelivery()
	all, unseen := read(t, js)
	l.checkLines(unseen)
	if len(all) == len(unseen) {
		t.Error("no event is in the stream twice: this test has no fault")
	}
}
