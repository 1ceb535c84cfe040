package transport

import (
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weirhq/weir/internal/testkit"
)

// TestEchoAllocatesNothing sends requests and responses between two connections of a loop.
func TestEchoAllocatesNothing(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector allocates")
	}
	l := startLoop(t)
	client, server := l.connected(t)
	if n := l.echoAllocations(client, server); n > 0 {
		t.Errorf("%v allocations for a task with %d exchanges", n, echoes)
	}
}

// echoes is the number of exchanges of a task of echoAllocations.
const echoes = 100

// echoAllocations returns the allocations of a task that sends requests to the other end of a
// connection and reads the responses.
func (l testLoop) echoAllocations(client, server Conn) float64 {
	l.Post(func() { l.Go(&echoer{conn: server, space: newHeap()}) })
	done := make(chan struct{})
	a := &asker{conn: client, space: newHeap(), request: make([]byte, 1024), exchanges: echoes}
	a.done = func() { done <- struct{}{} }
	run := func() { l.Go(a) } // made once
	return testing.AllocsPerRun(100, func() { l.Post(run); <-done })
}

// connected returns both ends of a connection, which are both on the loop.
func (l testLoop) connected(t testing.TB) (client, server *LoopConn) {
	t.Helper()
	a, b := testkit.Pair(t)
	client, err := l.attach(a)
	if err != nil {
		t.Fatal(err)
	}
	if server, err = l.attach(b); err != nil {
		t.Fatal(err)
	}
	return client, server
}

// An echoer is a task that responds to each request with its bytes.
type echoer struct {
	conn  Conn
	space *heap
}

func (e *echoer) Run() {
	for {
		n, err := e.conn.ReadInto(e.space)
		if err != nil {
			return
		}
		e.conn.SetDeadline(time.Now().Add(30 * time.Second))
		if _, err := e.conn.Write(e.space.b[:n]); err != nil {
			return
		}
	}
}

// An asker is a task that sends requests and reads their responses.
type asker struct {
	conn      Conn
	space     *heap
	request   []byte
	exchanges int
	done      func()
}

func (a *asker) Run() {
	defer a.done()
	for range a.exchanges {
		_, n, _, err := a.conn.WriteReadInto(a.request, a.space)
		for got := n; got < len(a.request) && err == nil; got += n {
			n, err = a.conn.ReadInto(a.space)
		}
		if err != nil {
			return
		}
	}
}

// BenchmarkEcho measures a request of 1 KiB and its response, between two ends that are on
// the same loop, or in two goroutines. cpu-ns/op is the CPU time of the process.
func BenchmarkEcho(b *testing.B) {
	for _, conns := range []int{1, 64} {
		b.Run("loop/"+strconv.Itoa(conns), func(b *testing.B) {
			l := startLoop(b)
			benchmarkEcho(b, conns, func() (client, server Conn) { return l.connected(b) }, func(t Task) {
				l.Post(func() { l.Go(t) })
			})
		})
		b.Run("goroutines/"+strconv.Itoa(conns), func(b *testing.B) {
			benchmarkEcho(b, conns, func() (client, server Conn) {
				x, y := testkit.Pair(b)
				client, err := NewConn(x)
				if err != nil {
					b.Fatal(err)
				}
				server, err = NewConn(y)
				if err != nil {
					b.Fatal(err)
				}
				return client, server
			}, func(t Task) { go t.Run() })
		})
	}
}

func benchmarkEcho(b *testing.B, conns int, connect func() (client, server Conn), start func(Task)) {
	var ended sync.WaitGroup
	askers := make([]*asker, conns)
	for i := range askers {
		client, server := connect()
		start(&echoer{server, newHeap()})
		askers[i] = &asker{client, newHeap(), make([]byte, 1024), b.N / conns, ended.Done}
	}
	askers[0].exchanges += b.N % conns
	ended.Add(conns)
	runtime.GC()
	before := cpuTime()
	b.ResetTimer()
	for _, a := range askers {
		start(a)
	}
	ended.Wait()
	b.StopTimer()
	b.ReportMetric(float64(cpuTime()-before)/float64(b.N), "cpu-ns/op")
	for _, a := range askers {
		a.conn.Close()
	}
}

// cpuTime returns the CPU time of the process.
func cpuTime() time.Duration {
	var u unix.Rusage
	unix.Getrusage(unix.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkSwitch measures a switch from the loop to a task and back.
func BenchmarkSwitch(b *testing.B) {
	l := startLoop(b)
	l.call(func() {
		l.Go(taskFunc(func() {
			for range b.N {
				l.running.wait()
			}
		}))
		co := l.queue.pop()
		b.ResetTimer()
		for range b.N {
			co.run()
		}
		b.StopTimer()
		co.run() // to its end
	})
}
