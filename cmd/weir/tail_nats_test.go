package main

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirhq/weir/internal/peer"
	"github.com/weirhq/weir/internal/testkit"
)

// publish stores the events first to first+count-1 in one message of a source. Without a
// source it is a message of another program.
func publish(t *testing.T, js jetstream.JetStream, subject, source string, first, count int) {
	t.Helper()
	var text strings.Builder
	for n := first; n < first+count; n++ {
		text.WriteString(eventLine(n))
	}
	var options []jetstream.PublishOpt
	body := text.String()
	if source != "" {
		options = append(options, jetstream.WithMsgID(fmt.Sprintf("%s-%d-%d", source, first, count)))
	} else {
		body = strings.TrimSuffix(body, "\n")
	}
	testkit.Await(t, "an acknowledgement", func() bool {
		_, err := js.Publish(t.Context(), subject, []byte(body), options...)
		return err == nil
	})
}

// weir tail reads all of a subject, its end, and what follows.
func TestTailReadsASubjectOfNATS(t *testing.T) {
	t.Parallel()
	n := peer.StartNATS(t, peer.NATSOptions{JetStream: true})
	js := natsClient(t, n)
	natsStream(t, js, jetstream.StreamConfig{Duplicates: 100 * time.Millisecond})
	url := n.URL + "/logs.a"
	if p := start(t, "tail", url); true {
		p.wait(0)
		wantNumbered(t, p, 0)
	}
	publish(t, js, "logs.a", "one", 0, 60)
	publish(t, js, "logs.a", "one", 60, 40)
	publish(t, js, "logs.a", "", 100, 1)
	for range 100 {
		publish(t, js, "logs.b", "two", 500, 1) // the last messages have another subject
	}
	time.Sleep(200 * time.Millisecond) // longer than the duplicate window
	noon := time.Now()
	publish(t, js, "logs.a", "one", 60, 40) // again
	publish(t, js, "logs.a", "one", 101, 2)
	for range 100 {
		publish(t, js, "logs.b", "two", 500, 1)
	}
	for _, c := range []struct {
		args  []string
		first int // of the events 0 to 102
		last  int
	}{
		{nil, 0, 102},
		{[]string{"-n", "0"}, 103, 102},
		{[]string{"-n", "2"}, 101, 102},
		{[]string{"-n", "50"}, 53, 102},
		{[]string{"-n", "1000"}, 0, 102},
		{[]string{"-n", "+1"}, 0, 102},
		{[]string{"-n", "+62"}, 61, 102},
		{[]string{"-n", "+200"}, 103, 102},
		{[]string{"--since", "1h"}, 0, 102},
		{[]string{"--where", "data.n > 90 && data.n < 95"}, 91, 94},
		{[]string{"--level", "error"}, 103, 102},
	} {
		p := start(t, append([]string{"tail", url}, c.args...)...)
		p.wait(0)
		var want strings.Builder
		for n := c.first; n <= c.last; n++ {
			want.WriteString(eventLine(n))
		}
		if got := output(t, p); got != want.String() {
			t.Errorf("%v: got %d lines, want the events %d to %d:\n%s", c.args, strings.Count(got, "\n"), c.first, c.last, got)
		}
	}

	// A message that was stored twice and whose first copy was not read is shown.
	p := start(t, "tail", "--since", noon.Format(time.RFC3339Nano), "--stats", "--json", n.URL+"/logs.*")
	p.wait(0)
	if got := output(t, p); !strings.Contains(got, `"events": 43`) {
		t.Errorf("want 40 + 2 + 1 events since noon:\n%s", got)
	}

	// The events of a request, and of the time around it.
	ofRequest := strings.Replace(eventLine(103), `"event":`, `"trace_id":"request-1","event":`, 1)
	if _, err := js.Publish(t.Context(), "logs.a", []byte(ofRequest)); err != nil {
		t.Fatal(err)
	}
	for window, want := range map[string]int{"0s": 1, "1s": 104} {
		p := start(t, "tail", "--around", "request-1", "--window", window, url)
		p.wait(0)
		if got := output(t, p); strings.Count(got, "\n") != want || !strings.Contains(got, ofRequest) {
			t.Errorf("--window %s: want %d events:\n%s", window, want, got)
		}
	}
}

// The message of a trace id that is not found has no password in it.
func TestTailNATSHidesThePassword(t *testing.T) {
	t.Parallel()
	n := peer.StartNATS(t, peer.NATSOptions{JetStream: true,
		Config: "authorization { user: weir, password: \"hunter2@\" }\n"})
	js := natsClient(t, n, nats.UserInfo("weir", "hunter2@"))
	natsStream(t, js, jetstream.StreamConfig{})
	p := start(t, "tail", "--around", "request-1", "nats://weir:hunter2%40@"+n.Address+"/logs.a")
	p.wait(1)
	p.says("no event has the trace id request-1, among 0 events of nats://" + n.Address + `/logs\.a\n`)
	if said := p.stderr.String(); strings.Contains(said, "hunter2") {
		t.Errorf("the password is on stderr:\n%s", said)
	}
}

// With --follow, weir tail awaits a server that was killed, and shows each event once. SIGINT
// ends it also while the server is away.
func TestTailNATSFollowAwaitsTheServer(t *testing.T) {
	t.Parallel()
	n := peer.StartNATS(t, peer.NATSOptions{JetStream: true})
	js := natsClient(t, n)
	natsStream(t, js, jetstream.StreamConfig{})
	publish(t, js, "logs.a", "one", 0, 5)
	p := start(t, "tail", "-f", "-n", "5", n.URL+"/logs.>")
	awaitOutput(t, p, eventLine(4))
	publish(t, js, "logs.a", "one", 5, 5)
	awaitOutput(t, p, eventLine(9))
	n.Stop()
	p.says("warning: nats://" + n.Address + "/logs.>: the connection was lost")
	n.Start()
	publish(t, js, "logs.a", "one", 10, 5)
	awaitOutput(t, p, eventLine(14))
	p.says("connected again")
	n.Stop()
	p.says("(?s)was lost.*was lost")
	p.signal(syscall.SIGINT)
	p.wait(0)
	wantNumbered(t, p, 15)
}

// The deletion of the stream ends weir tail --follow.
func TestDeletedStreamEndsTailNATS(t *testing.T) {
	t.Parallel()
	n := peer.StartNATS(t, peer.NATSOptions{JetStream: true})
	js := natsClient(t, n)
	natsStream(t, js, jetstream.StreamConfig{})
	publish(t, js, "logs.a", "one", 0, 1)
	p := start(t, "tail", "-f", n.URL+"/logs.>")
	awaitOutput(t, p, eventLine(0))
	if err := js.DeleteStream(t.Context(), "LOGS"); err != nil {
		t.Fatal(err)
	}
	p.says("error: nats://.*stream not found")
	p.wait(1)
}

// A stream that was created again numbers its messages from 1. weir tail --follow does not wait for
// the number after those that it has read.
func TestTailNATSReadsAReplacedStream(t *testing.T) {
	t.Parallel()
	n := peer.StartNATS(t, peer.NATSOptions{JetStream: true})
	js := natsClient(t, n)
	memory := jetstream.StreamConfig{Storage: jetstream.MemoryStorage}
	natsStream(t, js, memory)
	publish(t, js, "logs.a", "one", 0, 1)
	publish(t, js, "logs.a", "one", 1, 1)
	p := start(t, "tail", "-f", n.URL+"/logs.>")
	awaitOutput(t, p, eventLine(1))
	n.Stop()
	n.Start()
	natsStream(t, natsClient(t, n), memory)
	p.says("error: nats://.*(?:the stream was deleted and created again|stream not found)")
	p.wait(1)
}

// Mistakes end weir tail with a hint.
func TestTailNATSMistakesGetHints(t *testing.T) {
	t.Parallel()
	n := peer.StartNATS(t, peer.NATSOptions{JetStream: true,
		Config: "accounts { A { jetstream: true, users: [{user: a, password: hunter2}] } }\n"})
	none := peer.StartNATS(t, peer.NATSOptions{})
	url := "nats://a:hunter2@" + n.Address
	js := natsClient(t, n, nats.UserInfo("a", "hunter2"))
	natsStream(t, js, jetstream.StreamConfig{})
	for _, name := range []string{"X", "Y"} {
		if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: name, Subjects: []string{"other." + name}}); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		args []string
		want string
		code int
	}{
		{[]string{url + "/missing"}, "no stream of JetStream stores this subject\n.*nats stream add LOGS --subjects 'missing'", 1},
		{[]string{url + "/other.*"}, "the streams X and Y store this subject", 2},
		{[]string{none.URL + "/logs.a"}, "the server has no JetStream", 1},
		{[]string{"nats://a:wrong@" + n.Address + "/logs.a"}, "(?i)authorization violation\n.*accept this user", 1},
		{[]string{"nats://" + peer.FreeAddress(t) + "/logs.a"}, "no servers available", 1},
		{[]string{"nats://h"}, "no subject\n?.*\n.*docs/nats.md", 2},
		{[]string{url + "/logs.a", "weir.log"}, "without other inputs", 2},
		{[]string{"--since", "1h", "weir.log"}, "--since goes with a subject", 2},
		{[]string{"--since", "1h", "-n", "1", url + "/logs.a"}, "exclude each other", 2},
		{[]string{"--since", "yesterday", url + "/logs.a"}, "neither an instant", 2},
	} {
		p := start(t, append([]string{"tail"}, c.args...)...)
		p.says("error: .*" + c.want)
		p.wait(c.code)
		if strings.Contains(p.stderr.String(), "hunter2") {
			t.Errorf("%v: stderr has the password:\n%s", c.args, p.stderr.String())
		}
	}
}
