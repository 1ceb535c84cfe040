package otlpsinktest

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/peer"
	"github.com/weirhq/weir/internal/testkit"
	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/sink"
)

// The Collector decodes all parts of an event.
func TestCollectorDecodesEachPart(t *testing.T) {
	t.Parallel()
	c := peer.StartCollector(t)
	l := open(t, c.Address)
	const trace, span = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	l.Logger.Warn("http request completed").TraceID(trace).SpanID(span).
		HTTP(&log.HTTP{Method: "GET", Path: "/economy", StatusCode: 502, Client: "192.0.2.7"}).
		Str("proxy_name", "babbage").Send()
	l.AwaitDelivery()
	l.checkRecords(c)
	r := c.Records()[0]
	if r.Body != "http request completed" || r.Name != "http request completed" || r.Severity != 13 || r.Text != "WARN" ||
		r.Trace != trace || r.Span != span || time.Since(time.Unix(0, int64(r.Time))) > testkit.Limit ||
		r.Resource["service.name"] != "test" {
		t.Errorf("the record is %+v", r)
	}
	for name, want := range map[string]any{"http.request.method": "GET", "url.path": "/economy",
		"http.response.status_code": 502.0, "client.address": "192.0.2.7", "proxy_name": "babbage"} {
		if got := r.Attributes[name]; got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
}

// A record that the Collector refuses is dropped. Those in the same batch are stored.
func TestBadRecordIsDroppedAlone(t *testing.T) {
	t.Parallel()
	c := peer.StartCollector(t)
	l := open(t, c.Address)
	l.Emit(50)
	l.Logger.Error("bad").Send()
	l.Emit(50)
	s := l.AwaitDelivery()
	if s.Lost() != 1 || s.Dropped[0].Reason != sink.Rejected || !strings.Contains(s.LastError.Error(), `400 Bad Request: "a record is bad"`) {
		t.Errorf("dropped %v, %v; want one rejected event", s.Dropped, s.LastError)
	}
	l.Emit(1)
	l.AwaitReport(102)
	l.checkRecords(c)
	stored := 0
	for _, r := range c.UniqueRecords() {
		if r.Body == "numbered" {
			stored++
		}
	}
	if stored != 101 {
		t.Errorf("%d numbered events are stored, want 101", stored)
	}
}

// Under load, no event is lost or stored under two ids while the Collector or the network fails.
func TestFaultsLoseNoEvent(t *testing.T) {
	t.Parallel()
	const short, timedOut = 300 * time.Millisecond, 2500 * time.Millisecond
	for name, fault := range map[string]func(l *tested, c *peer.Collector, r *relay){
		"killed": func(_ *tested, c *peer.Collector, _ *relay) {
			c.Stop()
			time.Sleep(short)
			c.Start()
		},
		"stalled": func(l *tested, c *peer.Collector, _ *relay) {
			c.Signal(syscall.SIGSTOP)
			l.AwaitError("no response within 1s")
			c.Signal(syscall.SIGCONT)
		},
		"busy": func(l *tested, c *peer.Collector, _ *relay) {
			c.Fail("busy")
			l.AwaitError(`429 Too Many Requests: "too many records"`)
			c.Fail("")
		},
		"away": func(l *tested, c *peer.Collector, _ *relay) {
			c.Fail("away")
			l.AwaitError(`503 Service Unavailable: "no backend"`)
			c.Fail("")
		},
		"Retry-After": func(l *tested, _ *peer.Collector, r *relay) {
			r.set(status(503, time.Second))
			l.AwaitError("503")
			r.set(nil)
		},
		"wrong token": func(l *tested, _ *peer.Collector, r *relay) {
			r.set(status(401, 0))
			l.AwaitError("401 Unauthorized")
			r.set(nil)
		},
		"connections closed": func(l *tested, _ *peer.Collector, r *relay) {
			r.set(cut)
			time.Sleep(short)
			r.set(nil)
		},
		"network silent": func(l *tested, _ *peer.Collector, r *relay) {
			r.set(silence)
			time.Sleep(timedOut)
			r.set(nil)
		},
		"responses lost": func(l *tested, _ *peer.Collector, r *relay) {
			r.set(deaf)
			time.Sleep(short)
			r.set(nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := peer.StartCollector(t)
			r := newRelay(t, c)
			l := open(t, r.Listener.Addr().String())
			l.Load()
			time.Sleep(200 * time.Millisecond)
			fault(l, c, r)
			time.Sleep(200 * time.Millisecond)
			l.End()
			if s := l.AwaitDelivery(); s.LastError == nil || s.Lost() > 0 {
				t.Errorf("error %v, %d events lost; want an error and no loss", s.LastError, s.Lost())
			}
			l.checkRecords(c)
			if duplicates := len(c.Records()) - len(c.UniqueRecords()); name == "responses lost" && duplicates == 0 {
				t.Error("no record was stored twice: this test has no fault")
			}
		})
	}
}

// Events that a server refuses for good are dropped and counted.
func TestRefusedEventsAreCounted(t *testing.T) {
	t.Parallel()
	c := peer.StartCollector(t)
	r := newRelay(t, c)
	l := open(t, r.Listener.Addr().String())
	l.Emit(100)
	l.AwaitDelivery()
	r.set(status(400, 0))
	l.Emit(100)
	l.AwaitError("400 Bad Request")
	testkit.AwaitNil(t, "loss", func() error {
		if s := l.Check(); s.Lost() < 100 {
			return s.LastError
		}
		return nil
	})
	r.set(nil)
	l.Emit(100)
	l.AwaitDelivery()
	l.checkRecords(c)
}
