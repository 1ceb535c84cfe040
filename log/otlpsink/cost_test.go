package otlpsink_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/otlpsink"
	"github.com/weirhq/weir/log/sink"
	"github.com/weirhq/weir/log/stream"
)

// serverEnv is set in the process that is the server of BenchmarkCost, so that its CPU time is
// not that of the log.
const serverEnv = "OTLPSINK_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(serverEnv) != "" {
		serve()
	}
	os.Exit(m.Run())
}

// serve accepts all requests until the process is killed.
func serve() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(l.Addr())
	panic(http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/x-protobuf")
	})))
}

// BenchmarkCost measures the CPU time of the process for an event, from the call to the file or
// the socket. The events are the three of a request. The options are the defaults of the front door.
func BenchmarkCost(b *testing.B) {
	server := exec.Command(os.Args[0])
	server.Env = append(os.Environ(), serverEnv+"=1")
	out, err := server.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := server.Start(); err != nil {
		b.Fatal(err)
	}
	defer server.Wait()
	defer server.Process.Kill()
	var address string
	if _, err := fmt.Fscanln(out, &address); err != nil {
		b.Fatal(err)
	}
	o := sink.QueueOptions{WhenFull: sink.Block, Linger: 5 * time.Millisecond}
	for _, rate := range []int{0, 3000, 30_000} { // events per second; 0 for as many as possible
		b.Run(fmt.Sprintf("rate=%d/to=file", rate), func(b *testing.B) {
			f, err := sink.OpenFile(filepath.Join(b.TempDir(), "log"), sink.FileOptions{})
			if err != nil {
				b.Fatal(err)
			}
			defer f.Close()
			measure(b, rate, sink.NewQueue(f, o))
		})
		for _, compression := range []string{"none", "zstd", "gzip"} {
			b.Run(fmt.Sprintf("rate=%d/to=otlp/compression=%s", rate, compression), func(b *testing.B) {
				to, err := otlpsink.New("otlp+http://" + address + "?compression=" + compression)
				if err != nil {
					b.Fatal(err)
				}
				s, err := stream.New(to, stream.Options{Queue: o, Linger: 100 * time.Millisecond, Batch: 768 << 10})
				if err != nil {
					b.Fatal(err)
				}
				measure(b, rate, s)
			})
		}
	}
}

// measure logs events until the benchmark ends, closes out, and reports the CPU time.
func measure(b *testing.B, rate int, out interface {
	io.Writer
	Stats() sink.Stats
	Close(context.Context) error
}) {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	logger := log.New(out, log.Options{Namespace: "front-door"})
	before := cpuTime(b)
	began := time.Now()
	for i := range b.N {
		for rate > 0 && 3*i >= int(time.Since(began).Seconds()*float64(rate)) {
			<-tick.C
		}
		logRequest(logger, i)
	}
	if err := out.Close(b.Context()); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(cpuTime(b)-before)/float64(3*b.N), "cpu-ns/event")
	if s := out.Stats(); s.Lost() > 0 || s.Written < 3*uint64(b.N) {
		b.Fatalf("%d of %d events written", s.Written, 3*b.N)
	}
}

func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// encoded is the memory of the requests' events, as the front door has it.
var encoded log.EncodedHTTP

// queries make successive requests differ.
var queries = [...]string{"page=2&size=50", "page=3&size=50"}

// logRequest logs the events of a request.
func logRequest(logger *log.Logger, number int) {
	var id [16]byte
	for i := range id {
		id[i] = byte(rand.Uint32())
	}
	trace, now := hex.EncodeToString(id[:]), time.Now()
	h := log.HTTP{Method: "GET", Scheme: "http", Host: "www.example.com", Path: "/economy/inflation/bulletins/latest",
		Query: queries[number%len(queries)], StartedAt: now, Encoded: &encoded}
	logger.Info("http request received").TraceID(trace).HTTP(&h).Send()
	logger.Info("proxying request").TraceID(trace).HTTP(&h).Str("destination", "http://10.1.2.3:8080").
		Str("proxy_name", "babbage").Send()
	h.StatusCode, h.EndedAt, h.Duration, h.ResponseContentLength = 200, now, rand.N(time.Second), 18422
	h.Route, h.Client, h.Protocol, h.UserAgent = "GET /economy/{rest...}", "192.0.2.7", "HTTP/1.1",
		"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
	logger.Info("http request completed").TraceID(trace).HTTP(&h).Send()
}
