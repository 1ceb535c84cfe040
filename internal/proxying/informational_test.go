package proxying_test

import (
	"io"
	"strings"
	"testing"
	"time"
)

// TestEarlyHintsArePassedOn checks that a 103 is passed on with its fields to clients that
// support it. (D9)
func TestEarlyHintsArePassedOn(t *testing.T) {
	t.Parallel()
	const hints = "HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\nConnection: X-Mine\r\nX-Mine: 1\r\n\r\n"
	o := openOrigin(t, answering(hints+ok, nil))
	d := openDoor(t, nil, o.url)

	c := d.dial()
	h := &c.roundTrip(t, "GET / HTTP/1.1\r\nHost: a\r\n\r\n").head
	if (*h).first != "HTTP/1.1 103 Early Hints" || (*h).get("Link") != "</a.css>; rel=preload" ||
		(*h).get("X-Mine") != "" {
		t.Errorf("the client got %q", (*h).raw)
	}
	if m, err := c.readMessage(); err != nil || m.body != "ok" || m.get("Link") != "" {
		t.Errorf("after the hints came %+v, %v", m, err)
	}
	if m := d.dial().roundTrip(t, "GET / HTTP/1.0\r\nHost: a\r\n\r\n"); !strings.HasSuffix(m.first, "200 OK") {
		t.Errorf("an HTTP/1.0 client got %q", m.raw)
	}
}

// TestInformationalResponsesAreLimited checks that a client gets at most five
// informational responses. An upstream that sends more is faulty.
func TestInformationalResponsesAreLimited(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		sent, want int
		status     string
	}{{5, 5, "200"}, {6, 5, "502"}, {1000, 5, "502"}} {
		o := openOrigin(t, answering(strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", test.sent)+ok, nil))
		d := openDoor(t, nil, o.url)
		c := d.dial()
		c.say("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
		got := 0
		for {
			m, err := c.readMessage()
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(m.first, "HTTP/1.1 103") {
				if !strings.Contains(m.first, test.status) || got != test.want {
					t.Errorf("of %d the client got %d, then %s; want %d and %s", test.sent, got, m.first,
						test.want, test.status)
				}
				break
			}
			got++
		}
	}
}

// TestUnexpectedContinueIsNotPassedOn checks that a client that did not expect 100 does not get
// it.
func TestUnexpectedContinueIsNotPassedOn(t *testing.T) {
	t.Parallel()
	o := openOrigin(t, answering("HTTP/1.1 100 Continue\r\n\r\n"+ok, nil))
	c := openDoor(t, nil, o.url).dial()
	for _, request := range []string{"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi"} {
		if m := c.roundTrip(t, request); m.first != "HTTP/1.1 200 OK" {
			t.Errorf("the client got %q", m.raw)
		}
	}
}

const expecting = "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n"

// TestExpectedContinueIsPassedOnOnce checks that a client that expects 100 gets it once, and
// only after the upstream sent it.
func TestExpectedContinueIsPassedOnOnce(t *testing.T) {
	t.Parallel()
	goOn := make(chan struct{})
	o := openOrigin(t, func(w *wire) {
		for {
			h, err := w.readHead()
			if err != nil {
				return
			}
			if h.get("Expect") != "100-continue" {
				w.say("HTTP/1.1 400 no Expect\r\nContent-Length: 0\r\n\r\n")
				return
			}
			<-goOn
			w.say("HTTP/1.1 100 Continue\r\n\r\n")
			body := make([]byte, 5)
			io.ReadFull(w.r, body)
			w.sayf("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n%s", body)
		}
	})
	d := openDoor(t, nil, o.url)
	c := d.dial()
	for range 20 {
		c.say(expecting)
		c.SetReadDeadline(time.Now().Add(5 * time.Millisecond))
		if b, err := c.r.Peek(1); err == nil {
			t.Fatalf("%q came before the upstream said so", b)
		}
		c.SetReadDeadline(time.Now().Add(patience))
		goOn <- struct{}{}
		if h, err := c.readHead(); err != nil || h.first != "HTTP/1.1 100 Continue" {
			t.Fatalf("the client got %+v, %v", h, err)
		}
		if m := c.roundTrip(t, "hello"); m.first != "HTTP/1.1 200 OK" || m.body != "hello" {
			t.Fatalf("the client got %q %q", m.raw, m.body)
		}
		if got := d.outcome(); got.err != nil || got.bodyRead != 5 {
			t.Errorf("outcome %+v", got)
		}
	}
}

// TestBodyIsSentWithoutContinue checks that an upstream that does not send 100 gets the
// body after continueWait.
func TestBodyIsSentWithoutContinue(t *testing.T) {
	t.Parallel()
	got := make(chan *message, 1)
	o := openOrigin(t, answering(ok, got))
	c := openDoor(t, nil, o.url).dial()
	c.say(expecting)
	if h, err := c.readHead(); err != nil || h.first != "HTTP/1.1 100 Continue" {
		t.Fatalf("the client got %+v, %v", h, err)
	}
	if m := c.roundTrip(t, "hello"); m.body != "ok" {
		t.Errorf("the client got %q", m.raw)
	}
	if up := <-got; up.body != "hello" {
		t.Errorf("the upstream got %q", up.body)
	}
}

// TestDeclinedBodyIsNotRequested checks that a final response instead of 100 is passed on
// and the body not requested. Neither connection is used again, because the
// body may or may not follow.
func TestDeclinedBodyIsNotRequested(t *testing.T) {
	t.Parallel()
	o := openOrigin(t, func(w *wire) {
		for {
			if _, err := w.readHead(); err != nil {
				return
			}
			w.say("HTTP/1.1 417 Expectation Failed\r\nContent-Length: 2\r\n\r\nno")
		}
	})
	d := openDoor(t, nil, o.url)
	for i := range 2 {
		c := d.dial()
		m := c.roundTrip(t, expecting)
		if m.first != "HTTP/1.1 417 Expectation Failed" || m.body != "no" || m.get("Connection") != "close" {
			t.Errorf("the client got %q %q", m.raw, m.body)
		}
		c.say("hello") // a client may send without waiting
		if rest, err := io.ReadAll(c.r); len(rest) > 0 || err != nil {
			t.Errorf("after the response came %q, %v", rest, err)
		}
		if got := d.outcome(); got.bodyRead != 0 || got.err != nil {
			t.Errorf("outcome %+v", got)
		}
		if n := o.connections(); n != i+1 {
			t.Errorf("%d connections after %d exchanges", n, i+1)
		}
	}
}

// TestEarlyResponsesReachTheClient checks that a response during a 4 MiB upload reaches the
// client. The requirement is 99 of 100. (D8)
func TestEarlyResponsesReachTheClient(t *testing.T) {
	t.Parallel()
	const size, tries = 4 << 20, 100
	o := openOrigin(t, func(w *wire) {
		h, err := w.readHead()
		if err != nil {
			return
		}
		status := "413 Content Too Large"
		if strings.Contains(h.first, "/login") {
			status = "401 Unauthorized"
		}
		w.sayf("HTTP/1.1 %s\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno", status)
		// Like a well-behaved server, read the rest for a while.
		w.CloseWrite()
		io.Copy(io.Discard, w.r)
	})
	d := openDoor(t, nil, o.url)
	block := strings.Repeat("x", 64<<10)
	reached := 0
	for i := range tries {
		path, want := "/", "HTTP/1.1 413 "
		if i%2 == 1 {
			path, want = "/login", "HTTP/1.1 401 "
		}
		c := d.dial()
		c.sayf("POST %s HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n", path, size)
		for sent := 0; sent < size && c.say(block) == nil; sent += len(block) {
		}
		if m, err := c.readMessage(); err == nil && strings.HasPrefix(m.first, want) && m.body == "no" {
			reached++
		}
		c.Close()
		if got := d.outcome(); got.err != nil {
			t.Logf("exchange %d: %v", i, got.err)
		}
	}
	if reached < tries*99/100 {
		t.Errorf("%d of %d early responses reached the client", reached, tries)
	}
}

// TestEarlyResponseAndResetBlameNoClient does the same with an upstream that closes
// immediately. Its unread bytes make the close a reset during the upload.
func TestEarlyResponseAndResetBlameNoClient(t *testing.T) {
	t.Parallel()
	o := openOrigin(t, func(w *wire) {
		if _, err := w.readHead(); err == nil {
			w.say("HTTP/1.1 413 Content Too Large\r\nContent-Length: 2\r\n\r\nno")
		}
	})
	d := openDoor(t, nil, o.url)
	block := strings.Repeat("x", 64<<10)
	const tries = 50
	answered := 0
	for range tries {
		c := d.dial()
		c.sayf("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n", 4<<20)
		for sent := 0; sent < 4<<20 && c.say(block) == nil; sent += len(block) {
		}
		m, err := c.readMessage()
		if err == nil && strings.HasPrefix(m.first, "HTTP/1.1 413 ") {
			answered++
		} else if err == nil && !strings.HasPrefix(m.first, "HTTP/1.1 502 ") {
			t.Errorf("the client got %q", m.first)
		}
		if got := d.outcome(); got.kind != "" && got.err.ByClient() {
			t.Errorf("the client is blamed: %v", got.err)
		}
		c.Close()
	}
	t.Logf("%d of %d answered with the upstream's own words", answered, tries)
}
