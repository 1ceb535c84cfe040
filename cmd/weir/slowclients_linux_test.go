package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestSlowClients has many clients that never end a head, that read nothing and
// that send a body drop by drop, all at once: normal clients' requests all
// succeed, as fast as before, and the slow ones are gone after their time.
func TestSlowClients(t *testing.T) {
	each, patient := inSoak(60, 2000), inSoak(2*time.Second, 5*time.Second)
	needFiles(t, uint64(3*each+200))
	b := start(t, "backend", "--listen", "127.0.0.1:0")
	p := door(t, fmt.Sprintf("log: {events: completed}\n"+
		"limits: {timeouts: {header: %v, read: %[1]v, write: %[1]v}, upload_rate: 1KiB/s, download_rate: 1KiB/s}\n", patient)+allTo(b.url()))
	addr := strings.TrimPrefix(p.url(), "http://")
	stop := goodClients(t, p)
	pause(t.Context(), inSoak(100*time.Millisecond, 10*time.Second))
	before := stop()
	idle := residentMemory(t, p)
	remote := net.Dialer{Control: likeRemote}
	var slow []net.Conn
	for range each {
		for _, begin := range []string{
			"GET / HTTP/1.1\r\nHost: a\r\nX-Slow: ",
			"GET /?size=16000000 HTTP/1.1\r\nHost: a\r\n\r\n",
			"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\nx",
		} {
			c, err := remote.Dial("tcp", addr)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if _, err := io.WriteString(c, begin); err != nil {
				t.Fatal(err)
			}
			slow = append(slow, c)
		}
	}
	began := time.Now()
	ended := drip(slow)
	pause(t.Context(), inSoak(0, 2*time.Second)) // the answers go out as far as they do
	stop = goodClients(t, p)
	most, cut := idle, 0
	for deadline := time.Now().Add(2*patient + patience); cut < len(slow); pause(t.Context(), 50*time.Millisecond) {
		cut = int(metric(t, p.admin(), "weir_limit_refusals_total"))
		most = max(most, residentMemory(t, p))
		if time.Now().After(deadline) {
			t.Fatalf("of %d slow connections %d are cut", len(slow), cut)
		}
	}
	took, during := time.Since(began), stop()
	ended()
	grown := (most - idle) >> 10 / int64(len(slow))
	t.Logf("p99 of good requests: %v before (of %d), %v meanwhile (of %d); %d slow connections, gone after %v, %d KiB for each",
		p99(before), len(before), p99(during), len(during), len(slow), took, grown)
	for limit, least := range map[string]int{"header_timeout": each, "download_rate": each, "upload_rate": each} {
		if n := metric(t, p.admin(), "weir_limit_refusals_total", `limit="`+limit+`"`); n != float64(least) {
			t.Errorf("%v are counted as cut by %s, want %d", n, limit, least)
		}
	}
	if soaking {
		checkUnmoved(t, before, during, 99)
		// An answer has as much time again for one block, and deadlines are late
		// by a second in two places.
		if most := 2*patient + 4*time.Second; took > most {
			t.Errorf("the last slow client was gone after %v, want %v at most", took, most)
		}
		if grown > mostOfSlow {
			t.Errorf("the process grew by %d KiB for each slow connection, want %d at most", grown, mostOfSlow)
		}
	}
	await(t, "no request in flight", func() bool { return metric(t, p.admin(), "weir_requests_in_flight") == 0 })
}

// likeRemote gives a connection the segments and the window of one over a
// network. On the loopback interface the kernel would take megabytes for a
// client that reads nothing.
func likeRemote(_, _ string, c syscall.RawConn) (err error) {
	set := func(fd uintptr) {
		err = errors.Join(
			unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_MAXSEG, 1400),
			unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUF, 4096))
	}
	if failed := c.Control(set); failed != nil {
		return failed
	}
	return err
}

// mostOfSlow is how many KiB the process may grow for each slow connection. While
// they are slow that is 28: net/http's buffers of 8 and 3 more for each, for two
// of three that carry a request 2 of net/http's and 8 of the exchange and its
// connection to the upstream besides, and stacks of 10. When all are cut at once
// the heap grows by a quarter between two collections: 33 was measured.
const mostOfSlow = 40

// drip sends a byte on every connection that is to send something, once a
// second, until what it returns is called.
func drip(slow []net.Conn) (end func()) {
	ctx, stop := context.WithCancel(context.Background())
	var dripping sync.WaitGroup
	dripping.Go(func() {
		const parts = 100
		for n := 0; ctx.Err() == nil; n++ {
			for i := n % parts; i < len(slow); i += parts {
				if i%3 != 1 {
					io.WriteString(slow[i], "y") // fails once it was cut
				}
			}
			pause(ctx, time.Second/parts)
		}
	})
	return func() { stop(); dripping.Wait() }
}

// goodClients ask for what takes its server 20 ms, and fail the test if they do
// not get it, until stop is called, which returns how long each took.
func goodClients(t *testing.T, p *process) (stop func() []time.Duration) {
	t.Helper()
	var mu sync.Mutex
	var took []time.Duration
	url := p.url() + "/good?size=10000&latency=20ms"
	end := repeatedly(t, inSoak(2, 10), func(c *http.Client) bool {
		began := time.Now()
		resp, err := c.Get(url)
		if err != nil {
			t.Errorf("a good request: %v", err)
			return false
		}
		defer resp.Body.Close()
		if n, err := io.Copy(io.Discard, resp.Body); resp.StatusCode != 200 || n != 10000 || err != nil {
			t.Errorf("a good request: %s with %d bytes, %v", resp.Status, n, err)
			return false
		}
		mu.Lock()
		defer mu.Unlock()
		took = append(took, time.Since(began))
		return true
	})
	return func() []time.Duration { end(); return took }
}

// checkUnmoved compares a percentile of good requests with that of before.
func checkUnmoved(t *testing.T, before, during []time.Duration, percent int) {
	t.Helper()
	if was, is := quantile(before, percent), quantile(during, percent); is > was*12/10 {
		t.Errorf("p%d of good requests is %v, want 1.2 times the %v of before at most", percent, is, was)
	}
}

// TestUploadsOfAnySize has a client send a body that takes many times as long as
// one may pause, and another 10 bytes a second, which is cut. In soak the first
// sends a mebibyte at 20 KiB/s by the default limits; it stands for a gibibyte,
// which would take 15 hours: the pace holds anew for each byte.
func TestUploadsOfAnySize(t *testing.T) {
	t.Parallel()
	limits, size, allowed := inSoak("limits: {timeouts: {read: 1s}}\n", ""), inSoak(80<<10, 1<<20), inSoak(time.Second, 20*time.Second)
	b := start(t, "backend", "--listen", "127.0.0.1:0")
	p := door(t, limits+allTo(b.url()))
	var both sync.WaitGroup
	defer both.Wait()
	both.Go(func() {
		status, took := upload(t, p, size, 1<<10, 50*time.Millisecond)
		t.Logf("20 KiB/s: %d after %v", status, took)
		if status != 200 || took < 2*allowed {
			t.Errorf("%d bytes at 20 KiB/s: %d after %v, want 200 after more than %v", size, status, took, 2*allowed)
		}
	})
	both.Go(func() {
		status, took := upload(t, p, size, 1, 100*time.Millisecond)
		t.Logf("10 B/s: %d after %v", status, took)
		if status != 408 || soaking && took > allowed+3*time.Second {
			t.Errorf("10 B/s: %d after %v, want 408 after %v", status, took, allowed)
		}
	})
}

// upload sends a body in blocks until it is answered, and returns with what and
// after how long.
func upload(t *testing.T, p *process, size, block int, every time.Duration) (status int, took time.Duration) {
	c, err := net.Dial("tcp", strings.TrimPrefix(p.url(), "http://"))
	if err != nil {
		t.Error(err)
		return 0, 0
	}
	ctx, answered := context.WithCancel(t.Context())
	var sending sync.WaitGroup
	defer sending.Wait()
	defer c.Close()
	defer answered()
	began := time.Now()
	sending.Go(func() {
		fmt.Fprintf(c, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n", size)
		for left := size; left > 0 && ctx.Err() == nil; left -= block {
			c.Write(make([]byte, block)) // fails once it was cut
			pause(ctx, every)
		}
	})
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Errorf("an upload of %d bytes in blocks of %d: %v", size, block, err)
		return 0, time.Since(began)
	}
	resp.Body.Close()
	return resp.StatusCode, time.Since(began)
}
