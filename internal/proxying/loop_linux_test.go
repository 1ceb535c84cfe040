package proxying_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/proxying"
	"github.com/weirhq/weir/internal/testkit"
	"github.com/weirhq/weir/internal/transport"
)

type task func()

func (f task) Run() { f() }

// openLoop starts a loop.
func openLoop(t testing.TB) *transport.Loop {
	t.Helper()
	l, err := transport.NewLoop(1, func(v any, stack []byte) { t.Errorf("panic: %v\n%s", v, stack) })
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	running.Go(l.Run)
	t.Cleanup(func() {
		l.Close()
		running.Wait()
	})
	return l
}

// onLoop starts f in a task of a loop. The returned channel is closed when it ends.
func onLoop(l *transport.Loop, f func()) <-chan struct{} {
	done := make(chan struct{})
	l.Post(func() {
		l.Go(task(func() {
			defer close(done)
			f()
		}))
	})
	return done
}

// TestLoopServesConcurrentExchanges runs concurrent exchanges on a loop, in turn without a body, and with bodies that
// are read before the upstream is connected to or sent by an upload.
func TestLoopServesConcurrentExchanges(t *testing.T) {
	t.Parallel()
	const tasks, requests = 50, 100
	bodies := []string{"", "abc", "", strings.Repeat("x", 20_000), "", strings.Repeat("x", 150_000)}
	l := openLoop(t)
	for _, answer := range []string{ok, chunkedHead + "1\r\no\r\n1\r\nk\r\n0\r\nX: y\r\n\r\n"} {
		o := openOrigin(t, answering(answer, nil))
		p := &proxying.Proxy{Upstream: openUpstream(t, proxying.Options{}, o.url)}
		var running []<-chan struct{}
		for range tasks {
			running = append(running, onLoop(l, func() {
				var x proxying.Exchange
				client := new(sink)
				for i := range requests {
					x.Reset()
					fill(&x, client)
					body := bodies[i%len(bodies)]
					if x.Driver = l; body != "" {
						x.Method, x.Length, x.Body = "POST", int64(len(body)), strings.NewReader(body)
					}
					if p.Serve(&x); x.Err != nil || x.BodySent != 2 || x.BodyRead != int64(len(body)) {
						t.Errorf("%d bytes of the response and %d of the request, %v", x.BodySent, x.BodyRead, x.Err)
						return
					}
				}
			}))
		}
		for _, done := range running {
			<-done
		}
		if made := o.connections(); made > tasks*requests/2 {
			t.Errorf("%d exchanges made %d connections", tasks*requests, made)
		}
	}
}

// TestInterruptsEndExchangesOnLoop checks that exchanges on a loop whose upstream is silent end with
// their timeout, and when they are cancelled in another goroutine or on the loop.
func TestInterruptsEndExchangesOnLoop(t *testing.T) {
	t.Parallel()
	l := openLoop(t)
	silent := openUpstream(t, proxying.Options{}, openOrigin(t, func(w *wire) {
		w.readHead()
		stall(w)
	}).url)
	unreachable := openUpstream(t, proxying.Options{}, "http://"+testkit.SilentAddress(t))
	for _, c := range []struct {
		name   string
		up     *proxying.Upstream
		cancel func(x *proxying.Exchange)
		kind   proxying.Kind
	}{
		{"timeout", silent, func(*proxying.Exchange) {}, proxying.Timeout},
		{"cancelled elsewhere", silent, (*proxying.Exchange).Cancel, proxying.ClientGone},
		{"cancelled on the loop", silent, func(x *proxying.Exchange) { l.Post(x.Cancel) }, proxying.ClientGone},
		{"connect timeout", unreachable, func(*proxying.Exchange) {}, proxying.ConnectTimeout},
		{"connecting, cancelled elsewhere", unreachable, (*proxying.Exchange).Cancel, proxying.ClientGone},
		{"connecting, cancelled on the loop", unreachable, func(x *proxying.Exchange) { l.Post(x.Cancel) },
			proxying.ClientGone},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := newExchange()
			x.Driver, x.Timeout = l, patience
			if c.kind != proxying.ClientGone {
				x.Timeout = 50 * time.Millisecond
			}
			done := onLoop(l, func() { (&proxying.Proxy{Upstream: c.up}).Serve(x) })
			time.AfterFunc(20*time.Millisecond, func() { c.cancel(x) })
			testkit.Receive(t, "the end of the exchange", done)
			var failed *proxying.Error
			if !errors.As(x.Err, &failed) || failed.Kind != c.kind {
				t.Errorf("the exchange ended with %v, want %s", x.Err, c.kind)
			}
		})
	}
}

// TestWaitOnLoopDelaysNoOtherExchange checks that an exchange that waits for a connection does not
// hold up the others of its loop.
func TestWaitOnLoopDelaysNoOtherExchange(t *testing.T) {
	t.Parallel()
	l := openLoop(t)
	fd, addr := testkit.BoundSocket(t)
	later := openUpstream(t, proxying.Options{ConnectRetry: patience}, "http://"+addr)
	x := newExchange()
	x.Driver = l
	waiting := onLoop(l, func() { (&proxying.Proxy{Upstream: later}).Serve(x) })
	testkit.Await(t, "an exchange that waits", func() bool { n, _ := later.Waiting(); return n > 0 })
	other := newExchange()
	other.Driver = l
	p := &proxying.Proxy{Upstream: openUpstream(t, proxying.Options{}, openOrigin(t, answering(ok, nil)).url)}
	testkit.Receive(t, "the end of the exchange", onLoop(l, func() { p.Serve(other) }))
	if other.Err != nil {
		t.Error(other.Err)
	}
	startOn(t, fd)
	testkit.Receive(t, "the end of the waiting exchange", waiting)
	if x.Err != nil || x.Status != 200 {
		t.Errorf("status %d, %v after the server was started", x.Status, x.Err)
	}
}

// TestDriversCloseUnusedConnsOfOthers checks that exchanges in a goroutine and on a loop close the
// unused connections of each other, if only one connection is allowed.
func TestDriversCloseUnusedConnsOfOthers(t *testing.T) {
	t.Parallel()
	l := openLoop(t)
	shared := proxying.NewConns(1)
	up := openUpstream(t, proxying.Options{Conns: shared}, openOrigin(t, answering(ok, nil)).url)
	p := &proxying.Proxy{Upstream: up}
	for range 20 {
		x := newExchange()
		p.Serve(x)
		y := newExchange()
		y.Driver = l
		testkit.Receive(t, "the end of the exchange", onLoop(l, func() { p.Serve(y) }))
		if open, _ := shared.Stats(); x.Err != nil || y.Err != nil || open != 1 {
			t.Fatalf("%v and %v, with %d connections", x.Err, y.Err, open)
		}
	}
}

// An owner is a Client that keeps the id and the body of the response.
type owner struct {
	sink
	id, body string
}

func (o *owner) Head(status int, fields []proxying.Field, _ int64) error {
	for _, f := range fields {
		if f.Name == "X-Id" {
			o.id = strings.Clone(f.Value)
		}
	}
	return nil
}

func (o *owner) Write(p []byte) (int, error) {
	o.body += string(p)
	return len(p), nil
}

// TestResponsesNeverCrossOnLoop is TestResponsesNeverCross for exchanges on a loop.
func TestResponsesNeverCrossOnLoop(t *testing.T) {
	t.Parallel()
	checkCrossing(t, func(t *testing.T, url string) (ask func(client, requests int) (crossed, failed int64)) {
		l := openLoop(t)
		p := &proxying.Proxy{Upstream: openUpstream(t, proxying.Options{}, url)}
		return func(client, requests int) (crossed, failed int64) {
			<-onLoop(l, func() { crossed, failed = askOnLoop(l, p, client, requests) })
			return crossed, failed
		}
	})
}

func askOnLoop(l *transport.Loop, p *proxying.Proxy, client, requests int) (crossed, failed int64) {
	var x proxying.Exchange
	for i := range requests {
		x.Reset()
		got, id := new(owner), fmt.Sprintf("%d-%d", client, i)
		fill(&x, got)
		x.Driver = l
		x.Method, x.Target = ownRequest(i)
		x.Header = append(x.Header, proxying.Field{Name: "X-Id", Value: id})
		p.Serve(&x)
		switch {
		case x.Err != nil:
			failed++
		case got.id != id || got.body != "" && got.body != "belongs to "+id:
			crossed++
		}
	}
	return crossed, failed
}

func BenchmarkExchangeOnLoop(b *testing.B) {
	for name, answer := range oneKiB {
		b.Run(name, func(b *testing.B) { benchmarkOnLoop(b, fixed(answer), nil) })
	}
	b.Run("upload", func(b *testing.B) {
		body := bytes.Repeat([]byte("x"), 64<<10)
		benchmarkOnLoop(b, afterBody(len(body)), body)
	})
}

func benchmarkOnLoop(b *testing.B, play func(w *wire), body []byte) {
	l := openLoop(b)
	p := &proxying.Proxy{Upstream: openUpstream(b, proxying.Options{}, openOrigin(b, play).url)}
	b.ReportAllocs()
	<-onLoop(l, func() {
		var x proxying.Exchange
		client, reader := new(sink), new(bytes.Reader)
		for range b.N {
			x.Reset()
			fill(&x, client)
			x.Driver = l
			if body != nil {
				reader.Reset(body)
				x.Length, x.Body = int64(len(body)), reader
			}
			if p.Serve(&x); x.Err != nil {
				b.Error(x.Err)
				return
			}
		}
	})
}
