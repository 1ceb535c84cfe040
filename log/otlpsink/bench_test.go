package otlpsink

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/stream"
)

// requestBatch returns a batch of a queue's size with the events of requests.
func requestBatch() stream.Batch {
	var lines bytes.Buffer
	logger := log.New(&lines, log.Options{Namespace: "front-door"})
	count := 0
	for lines.Len() < 60<<10 {
		now := time.Now()
		h := log.HTTP{Method: "GET", Scheme: "http", Host: "www.example.com", Path: "/economy/inflation/bulletins/latest",
			Query: fmt.Sprintf("page=%d&size=50", rand.N(1000)), StartedAt: now}
		trace := fmt.Sprintf("%016x%016x", rand.Uint64(), rand.Uint64())
		logger.Info("http request received").TraceID(trace).HTTP(&h).Send()
		logger.Info("proxying request").TraceID(trace).HTTP(&h).Str("destination", "http://10.1.2.3:8080").
			Str("proxy_name", "babbage").Send()
		h.StatusCode, h.EndedAt, h.Duration = 200, now.Add(5*time.Millisecond), rand.N(20*time.Millisecond)
		h.ResponseContentLength, h.Client = rand.N[int64](50000), fmt.Sprintf("192.0.2.%d", rand.N(256))
		h.Route, h.Protocol, h.UserAgent = "GET /economy/{rest...}", "HTTP/1.1",
			"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
		logger.Info("http request completed").TraceID(trace).HTTP(&h).Send()
		count += 3
	}
	return stream.Batch{Lines: lines.Bytes(), Count: count, Source: "0123456789abcdef0123456789abcdef", First: 1}
}

func BenchmarkEncode(b *testing.B) {
	e, batch := encoder{signal: &logs, now: time.Now}, requestBatch()
	b.ReportAllocs()
	for b.Loop() {
		e.request(batch)
	}
	perEvent(b, batch)
}

func BenchmarkCompress(b *testing.B) {
	for _, coding := range []string{"gzip", "zstd"} {
		b.Run(coding, func(b *testing.B) {
			e, batch := encoder{signal: &logs, now: time.Now}, requestBatch()
			text := e.request(batch)
			c, err := newCompressor(coding)
			if err != nil {
				b.Fatal(err)
			}
			n := 0
			for b.Loop() {
				out, _ := c.compress(text)
				n = len(out)
			}
			perEvent(b, batch)
			b.ReportMetric(float64(n)/float64(len(text)), "ratio")
		})
	}
}

func perEvent(b *testing.B, batch stream.Batch) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*batch.Count), "ns/event")
	b.ReportMetric(float64(len(batch.Lines)/batch.Count), "B/line")
}
