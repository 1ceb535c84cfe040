package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/testkit"
)

// TestSlowClientsDelayNoOthers runs many clients that never complete a header, never read, or
// send a body byte by byte. All requests of normal clients succeed as fast as
// before, and the slow clients are cut after their timeout.
func TestSlowClientsDelayNoOthers(t *testing.T) {
	parallel(t)
	each := inSoak(60, 2000)
	patient := inSoak(10*time.Second, 5*time.Second) // a soak has a machine that does nothing else
	needFiles(t, uint64(3*each+200))
	b := start(t, "backend", "--listen", "127.0.0.1:0")
	p := door(t, fmt.Sprintf("log: {events: completed}\n"+
		"limits: {client_timeouts: {header: %v}}\n"+
		"defaults: {limits: {client_timeouts: {read: %[1]v, write: %[1]v}, upload_rate: 1KiB/s, download_rate: 1KiB/s}}\n",
		patient)+allTo(b.url()))
	addr := strings.TrimPrefix(p.url(), "http://")
	stop := goodClients(t, p)
	pause(t.Context(), inSoak(100*time.Millisecond, 10*time.Second))
	before := stop()
	idle := residentMemory(t, p)
	remote := net.Dialer{Control: testkit.LikeRemote}
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
	pause(t.Context(), inSoak(0, 2*time.Second)) // the responses fill the buffers
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
	t.Logf("p99 of good requests: %v before (of %d), %v meanwhile (of %d); %d slow connections, gone after %v, %d "+
		"KiB for each",
		p99(before), len(before), p99(during), len(during), len(slow), took, grown)
	for limit, least := range map[string]int{"header_timeout": each, "download_rate": each, "upload_rate": each} {
		if n := metric(t, p.admin(), "weir_limit_refusals_total", `limit="`+limit+`"`); n != float64(least) {
			t.Errorf("%v are counted as cut by %s, want %d", n, limit, least)
		}
	}
	if soaking {
		checkUnmoved(t, before, during, 99)
		// A response has the same time again for one block, and in two places
		// deadlines are up to a second late.
		if most := 2*patient + 4*time.Second; took > most {
			t.Errorf("the last slow client was gone after %v, want %v at most", took, most)
		}
		if grown > mostOfSlow {
			t.Errorf("the process grew by %d KiB for each slow connection, want %d at most", grown, mostOfSlow)
		}
	}
	testkit.AwaitEqual(t, "no request in flight", func() float64 { return metric(t, p.admin(), "weir_requests_in_flight") }, 0)
}

// mostOfSlow is the growth of the process per slow connection, in KiB. While they
// are slow it is 28: 8 for net/http's buffers and 3 more for each connection; for
// two of three, which carry a request, 2 more of net/http's and 8 of the exchange
// and its upstream connection; and 10 for stacks. When all are cut together, the
// heap grows by a quarter between two collections: 33 was measured.
const mostOfSlow = 40

// drip sends a byte per second on every connection that has to send, until end is
// called.
func drip(slow []net.Conn) (end func()) {
	ctx, stop := context.WithCancel(context.Background())
	var dripping sync.WaitGroup
	dripping.Go(func() {
		const parts = 100
		for n := 0; ctx.Err() == nil; n++ {
			for i := n % parts; i < len(slow); i += parts {
				if i%3 != 1 {
					io.WriteString(slow[i], "y") // fails after the cut
				}
			}
			pause(ctx, time.Second/parts)
		}
	})
	return func() { stop(); dripping.Wait() }
}

// goodClients sends requests that take the server 20 ms, and fails the test if one
// fails. stop ends them and returns how long each took.
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

// checkUnmoved compares a percentile of normal requests with that before.
func checkUnmoved(t *testing.T, before, during []time.Duration, percent int) {
	t.Helper()
	if was, is := quantile(before, percent), quantile(during, percent); is > was*12/10 {
		t.Errorf("p%d of good requests is %v, want 1.2 times the %v of before at most", percent, is, was)
	}
}

// TestUploadsOfAnySizePass uploads a body that takes many times as long as a pause may
// last, and another at 10 bytes per second, which is cut. In soak the first is a
// mebibyte at 20 KiB/s with the default limits. A gibibyte would take 15 hours and
// test the same: the minimum rate applies to each byte.
func TestUploadsOfAnySizePass(t *testing.T) {
	t.Parallel()
	limits := inSoak("defaults: {limits: {client_timeouts: {read: 1s}}}\n", "")
	size, allowed := inSoak(80<<10, 1<<20), inSoak(time.Second, 20*time.Second)
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

// upload sends a body in blocks until the response arrives, and returns its status
// and the time that it took.
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
			c.Write(make([]byte, block)) // fails after the cut
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
