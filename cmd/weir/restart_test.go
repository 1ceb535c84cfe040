package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/testkit"
)

// TestRestartLosesNoRequest restarts weir three times while clients post on
// persistent connections. The next process takes over the port while the previous
// one drains.
func TestRestartLosesNoRequest(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{"HTTP/1.1", "HTTP/2"} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			delay := 2 * time.Second
			for !restartsUnderLoad(t, protocol, delay) {
				delay *= 2
			}
		})
	}
}

// restartsUnderLoad reports whether each process listened before the delay of the one before was
// over. If not, the machine was too busy for this delay, and lost requests are no fault.
func restartsUnderLoad(t *testing.T, protocol string, delay time.Duration) (inTime bool) {
	t.Helper()
	var served atomic.Int64
	back := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		served.Add(1)
	}))
	defer back.Close()
	file := configFile(t, fmt.Sprintf("drain: {delay: %v, timeout: 10m}\nlog: {events: completed}\n", delay)+allTo(back.URL))
	p := start(t, "serve", "--config", file)
	url, admin := p.url(), p.admin()
	posters := startPosters(t, protocol, strings.TrimPrefix(url, "http://"), inSoak(20, 50))
	inTime = true
	for range 3 {
		posters.await(t, posters.answered.Load()+100)
		began := time.Now()
		p.signal(syscall.SIGTERM)
		p.says("draining")
		next := start(t, "serve", "--config", file, "--listen", strings.TrimPrefix(url, "http://"), "--admin",
			strings.TrimPrefix(admin, "http://"))
		next.says("admin on")
		inTime = inTime && time.Since(began) < delay
		testkit.AwaitEqual(t, "the next process on /readyz", func() int { return get(t, client(t), admin+"/readyz").StatusCode }, 200)
		p.wait(0)
		p = next
	}
	posters.await(t, posters.answered.Load()+100)
	posters.stop()
	p.signal(syscall.SIGTERM)
	p.wait(0)
	if !inTime {
		t.Logf("a process took longer than %v to start: once more", delay)
		return false
	}
	if lost := posters.lost.Load(); lost != 0 {
		t.Errorf("%d requests were lost, %d answered; the first: %v", lost, posters.answered.Load(),
			posters.first.Load())
	}
	if n := served.Load(); n != posters.answered.Load() {
		t.Errorf("the upstream served %d requests, %d were answered", n, posters.answered.Load())
	}
	return true
}

// posters are clients that each post every 50 ms on their own connection.
type posters struct {
	answered, lost atomic.Int64
	first          atomic.Value // the first error
	stop           func()       // ends them and waits
}

// A poster sends one request and reads its response.
type poster interface {
	post() error
	close()
}

func startPosters(t *testing.T, protocol, addr string, n int) *posters {
	p := &posters{}
	var running sync.WaitGroup
	ended := make(chan struct{})
	p.stop = sync.OnceFunc(func() {
		close(ended)
		running.Wait()
	})
	t.Cleanup(p.stop)
	for range n {
		var client poster = &pooledConn{addr: addr}
		if protocol == "HTTP/2" {
			client = newStreamClient(addr)
		}
		running.Go(func() { p.run(client, ended) })
	}
	return p
}

func (p *posters) run(client poster, ended <-chan struct{}) {
	defer client.close()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		if err := client.post(); err != nil {
			p.first.CompareAndSwap(nil, err.Error())
			p.lost.Add(1)
		} else {
			p.answered.Add(1)
		}
		select {
		case <-tick.C:
		case <-ended:
			return
		}
	}
}

// await waits for n responses.
func (p *posters) await(t *testing.T, n int64) {
	t.Helper()
	testkit.Await(t, fmt.Sprintf("%d responses", n), func() bool { return p.answered.Load() >= n })
}

// A pooledConn speaks HTTP/1.1 on one connection, and honours Connection: close.
type pooledConn struct {
	addr string
	conn net.Conn // nil before the first request and after a close
	r    *bufio.Reader
}

func (c *pooledConn) post() error {
	return c.roundTrip("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello")
}

// roundTrip sends a request and reads its response.
func (c *pooledConn) roundTrip(request string) error {
	if c.conn == nil {
		conn, err := net.Dial("tcp", c.addr)
		if err != nil {
			return err
		}
		conn.SetDeadline(time.Now().Add(2 * patience))
		c.conn, c.r = conn, bufio.NewReader(conn)
	}
	if _, err := io.WriteString(c.conn, request); err != nil {
		c.close()
		return err
	}
	resp, err := http.ReadResponse(c.r, nil)
	if err != nil {
		c.close()
		return err
	}
	io.Copy(io.Discard, resp.Body)
	if resp.Close {
		c.close()
	}
	return statusError(resp)
}

func (c *pooledConn) close() {
	if c.conn != nil {
		c.conn.Close()
		c.conn = nil
	}
}

// A streamClient speaks HTTP/2. After a GOAWAY it opens a new connection.
type streamClient struct {
	http.Client
	url string
}

func newStreamClient(addr string) *streamClient {
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	return &streamClient{http.Client{Transport: &http.Transport{Protocols: protocols}}, "http://" + addr}
}

func (c *streamClient) post() error {
	resp, err := c.Post(c.url, "text/plain", strings.NewReader("hello"))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	io.Copy(io.Discard, resp.Body)
	return statusError(resp)
}

func (c *streamClient) close() { c.CloseIdleConnections() }

func statusError(resp *http.Response) error {
	if resp.StatusCode >= 300 {
		return fmt.Errorf("status %s", resp.Status)
	}
	return nil
}
