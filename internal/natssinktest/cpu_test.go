//go:build unix

package natssinktest

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"syscall"
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

// BenchmarkCPU measures the CPU time of this process for an event, with its encoding: to a
// file, and to a stream. The events are those of proxied requests.
func BenchmarkCPU(b *testing.B) {
	for _, rate := range []int{0, 3000, 30_000} { // events per second; 0 for as many as possible
		for _, to := range []string{"nowhere", "file", "stream"} {
			b.Run(fmt.Sprintf("rate=%d/to=%s", rate, to), func(b *testing.B) { benchmarkCPU(b, rate, to) })
		}
	}
}

func benchmarkCPU(b *testing.B, rate int, to string) {
	q := sink.QueueOptions{WhenFull: sink.Block, Linger: 5 * time.Millisecond}
	var out interface {
		log.EventWriter
		Stats() sink.Stats
	}
	switch to {
	case "nowhere":
		out = sink.NewDirect(io.Discard)
	case "file":
		file, err := sink.OpenFile(filepath.Join(b.TempDir(), "weir.log"), sink.FileOptions{})
		if err != nil {
			b.Fatal(err)
		}
		queue := sink.NewQueue(file, q)
		b.Cleanup(func() {
			queue.Close(context.Background())
			file.Close()
		})
		out = queue
	case "stream":
		s, err := stream.New(benchmarkStream(b), stream.Options{Queue: q, Linger: 100 * time.Millisecond})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { s.Close(context.Background()) })
		out = s
	}
	logger := log.New(out, log.Options{Namespace: "front-door"})
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	logRequest(logger) // connects
	awaitWritten(out)
	began, requests := cpuTime(b), 0
	for b.Loop() {
		for rate > 0 && 3*requests >= rate*int(b.Elapsed()/time.Millisecond)/1000 {
			<-tick.C
		}
		logRequest(logger)
		requests++
	}
	awaitWritten(out)
	b.ReportMetric(float64(cpuTime(b)-began)/float64(3*requests), "cpu-ns/event")
	b.ReportMetric(0, "ns/op")
}

func awaitWritten(out interface{ Stats() sink.Stats }) {
	for out.Stats().Waiting > 0 {
		time.Sleep(time.Millisecond)
	}
}

// logRequest logs the three events of a proxied request.
func logRequest(l *log.Logger) {
	now := time.Now().UTC()
	h := log.HTTP{Method: "GET", Scheme: "http", Host: "www.example.org", Port: 20000,
		Path:  "/economy/inflationandpriceindices/bulletins/consumerpriceinflation/september2026",
		Query: "page=2&filter=all", StartedAt: now}
	const trace = "kQmzRzXbTdWvPqLs"
	l.Info("http request received").At(now).TraceID(trace).HTTP(&h).Send()
	h.StartedAt = time.Time{}
	l.Info("proxying request").TraceID(trace).HTTP(&h).Str("destination", "http://127.0.0.1:8080").
		Str("proxy_name", "babbage").Send()
	h.StartedAt, h.EndedAt, h.Duration = now, now.Add(5*time.Millisecond), 5*time.Millisecond
	h.StatusCode, h.ResponseContentLength = 200, 48213
	l.Info("http request completed").At(h.EndedAt).TraceID(trace).HTTP(&h).Send()
}

// benchmarkStream returns a destination with a new stream.
func benchmarkStream(b *testing.B) stream.Destination {
	n := peer.StartNATS(b, peer.NATSOptions{JetStream: true})
	conn, err := nats.Connect(n.URL)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		b.Fatal(err)
	}
	_, err = js.CreateStream(b.Context(), jetstream.StreamConfig{Name: "LOGS", Subjects: []string{"logs.>"}, MaxBytes: 256 << 20})
	if err != nil {
		b.Fatal(err)
	}
	to, err := natssink.New(n.URL + "/" + subject)
	if err != nil {
		b.Fatal(err)
	}
	return to
}

// cpuTime returns the CPU time that the process has used.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
