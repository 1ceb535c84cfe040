package limit_test

import (
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptrace"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/limit"
)

// TestPaceCutsSlowPeers simulates peers that pass a number of bytes at an interval.
func TestPaceCutsSlowPeers(t *testing.T) {
	pace := limit.Pace{PerSecond: 1 << 10, Grace: 5 * time.Second}
	for _, c := range []struct {
		name  string
		bytes int
		every time.Duration
		first int // bytes at the start
		until time.Duration
		cut   time.Duration // time of the cut; 0: never
	}{
		{"1 GiB at 20 KiB/s", 20 << 10, time.Second, 0, 53_000 * time.Second, 0},
		{"just the pace", 1 << 10, time.Second, 0, time.Hour, 0},
		{"just the pace in lumps", 4 << 10, 4 * time.Second, 0, time.Hour, 0},
		{"10 B/s", 10, time.Second, 0, time.Hour, 6 * time.Second},
		{"a byte at a time", 1, 100 * time.Millisecond, 0, time.Hour, 5100 * time.Millisecond},
		{"half the pace", 512, time.Second, 0, time.Hour, 10 * time.Second},
		{"a gigabyte, then nothing", 0, time.Second, 1 << 30, time.Hour, 6 * time.Second},
		{"silent", 0, time.Second, 0, time.Hour, 6 * time.Second},
		{"fast with pauses of the grace", 1 << 20, 5 * time.Second, 0, time.Hour, 0},
	} {
		now := someTime
		deadline := pace.Next(pace.Start(now), now, c.first)
		cut := time.Duration(0)
		for at := c.every; at <= c.until; at += c.every {
			now = someTime.Add(at)
			if pace.TooSlow(deadline, now) {
				cut = at
				break
			}
			deadline = pace.Next(deadline, now, c.bytes)
		}
		if cut != c.cut {
			t.Errorf("%s: cut after %v, want %v (0: never)", c.name, cut, c.cut)
		}
	}
}

func TestZeroPaceHasNoDeadline(t *testing.T) {
	var pace limit.Pace
	if d := pace.Next(pace.Start(someTime), someTime, 1); !d.IsZero() || pace.TooSlow(d, someTime) ||
		pace.Time(100) != 0 {
		t.Errorf("the zero Pace: deadline %v, too slow %v; want none", d, pace.TooSlow(d, someTime))
	}
	pace.PerSecond = 1
	if got := pace.Start(someTime).Sub(someTime); got != 10*time.Second {
		t.Errorf("no Grace: got %v, want 10s", got)
	}
	if got := pace.Time(math.MaxInt); got < 100*365*24*time.Hour {
		t.Errorf("time for a great many bytes: got %v, want centuries", got)
	}
}

// TestPaceCutsSlowUploads uploads over real connections: one client sends at full speed, one
// stops in the middle, and one trickles.
func TestPaceCutsSlowUploads(t *testing.T) {
	t.Parallel()
	const grace = 500 * time.Millisecond // long enough for a busy machine
	type end struct {
		n   int64
		err error
	}
	ends := make(chan end, 1)
	url, _ := serve(t, limit.Pace{PerSecond: 10_000, Grace: grace}.Policy("upload"),
		func(_ http.ResponseWriter, r *http.Request) {
			n, err := io.Copy(io.Discard, r.Body)
			ends <- end{n, err}
		})
	const head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n"
	for _, c := range []struct {
		name  string
		first string        // sent immediately
		chunk string        // sent repeatedly
		pause time.Duration // between two chunks
		whole bool
	}{
		{"at once", strings.Repeat("x", 100_000), "", 0, true},
		{"stops", strings.Repeat("x", 50_000), "", 0, false},
		{"trickles", "", "x", 5 * time.Millisecond, false},
	} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		if _, err := io.WriteString(conn, head+c.first); err != nil {
			t.Fatal(err)
		}
		got, sent := trickle(conn, c.chunk, c.pause, ends)
		took := time.Since(begin)
		conn.Close()
		var refusal *limit.Refusal
		switch {
		case c.whole && (got.err != nil || got.n != 100_000):
			t.Errorf("%s: got %d bytes and %v, want all of them", c.name, got.n, got.err)
		case !c.whole && (!errors.Is(got.err, os.ErrDeadlineExceeded) || !errors.As(got.err, &refusal) ||
			refusal.Limit != "upload"):
			t.Errorf("%s: got %d bytes and %v, want it cut by the limit at the deadline", c.name, got.n, got.err)
		case !c.whole && (got.n > int64(len(c.first)+sent) || took < grace*9/10):
			t.Errorf("%s: cut after %d bytes and %v, want after the grace", c.name, got.n, took)
		}
	}
}

// trickle writes chunks until the server reports the end of the body.
func trickle[End any](conn net.Conn, chunk string, pause time.Duration, ends <-chan End) (got End, sent int) {
	if chunk == "" {
		return <-ends, 0
	}
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for {
		select {
		case got := <-ends:
			return got, sent
		case <-tick.C:
			n, _ := io.WriteString(conn, chunk) // fails if the server was faster; its result follows
			sent += n
		}
	}
}

// TestPaceKeepsTheConnection sends several requests with bodies over one connection.
// The handler takes longer than the grace.
func TestPaceKeepsTheConnection(t *testing.T) {
	t.Parallel()
	const grace = 500 * time.Millisecond // long enough for a busy machine
	url, _ := serve(t, limit.Pace{PerSecond: 1, Grace: grace}.Policy("upload"),
		func(w http.ResponseWriter, r *http.Request) {
			if _, err := io.Copy(w, r.Body); err != nil {
				t.Error(err)
			}
			<-time.After(2 * grace) // a slow handler does not make the client slow
		})
	reused := 0
	trace := &httptrace.ClientTrace{GotConn: func(c httptrace.GotConnInfo) {
		if c.Reused {
			reused++
		}
	}}
	client := &http.Client{Transport: &http.Transport{}} // other tests close idle connections of the default client
	defer client.CloseIdleConnections()
	for range 3 {
		r, err := http.NewRequestWithContext(httptrace.WithClientTrace(t.Context(), trace), "POST", url,
			strings.NewReader("hello"))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil || string(body) != "hello" {
			t.Errorf("got %q and %v, want the body back", body, err)
		}
	}
	if reused != 2 {
		t.Errorf("%d of 3 requests used the connection of the one before, want 2", reused)
	}
}
