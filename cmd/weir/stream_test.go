package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/coder/websocket"

	"github.com/weirhq/weir/internal/testkit"
)

// TestWebSocketMessagesPass echoes messages through the door and closes the connection.
func TestWebSocketMessagesPass(t *testing.T) {
	t.Parallel()
	upstream := testkit.Serve(t, http.HandlerFunc(echo))
	p := door(t, allTo(upstream.URL))
	ctx := within(t)
	ws, resp, err := websocket.Dial(ctx, p.url()+"/ws", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ws.CloseNow()
	if resp.StatusCode != 101 {
		t.Errorf("status %d, want 101", resp.StatusCode)
	}
	ws.SetReadLimit(-1)
	for _, message := range []string{"hello", "", strings.Repeat("long ", 100_000)} {
		if err := ws.Write(ctx, websocket.MessageText, []byte(message)); err != nil {
			t.Fatal(err)
		}
		if _, got, err := ws.Read(ctx); err != nil || string(got) != message {
			t.Fatalf("sent %d bytes, got %d of an echo, %v", len(message), len(got), err)
		}
	}
	if err := ws.Close(websocket.StatusNormalClosure, "done"); err != nil {
		t.Errorf("close: %v", err)
	}
	if e := p.awaitEvent(completed, "/ws"); e.status() != 101 || len(e.Errors) > 0 || *e.Severity != 3 {
		t.Errorf("want severity 3, status 101 and no error:\n%s", e.line)
	}
	p.signal(syscall.SIGTERM)
	p.wait(0)
}

// echo sends back every message of a WebSocket.
func echo(w http.ResponseWriter, r *http.Request) {
	ws, err := websocket.Accept(w, r, nil)
	if err != nil {
		return // Accept has responded
	}
	defer ws.CloseNow()
	ws.SetReadLimit(-1)
	for {
		kind, message, err := ws.Read(r.Context())
		if err != nil {
			return
		}
		if ws.Write(r.Context(), kind, message) != nil {
			return
		}
	}
}

// TestEventStreamPassesAtOnce sends each event when the previous one has arrived, so it ends
// only if no event is held back.
func TestEventStreamPassesAtOnce(t *testing.T) {
	t.Parallel()
	const n = 20
	next := make(chan int, 1)
	upstream := testkit.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for i := range next {
			fmt.Fprintf(w, "data: %d\n\n", i)
			http.NewResponseController(w).Flush()
		}
	}))
	end := sync.OnceFunc(func() { close(next) })
	t.Cleanup(end) // runs before the upstream closes, which waits for its handler
	p := door(t, allTo(upstream.URL))
	req, err := http.NewRequestWithContext(within(t), "GET", p.url()+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	next <- 0
	resp, err := client(t).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	events := bufio.NewReader(resp.Body)
	for i := range n {
		if i > 0 {
			next <- i
		}
		line, err := events.ReadString('\n')
		if want := fmt.Sprintf("data: %d\n", i); err != nil || line != want {
			t.Fatalf("got %q, %v; want %q", line, err, want)
		}
		events.ReadString('\n') // the empty line after the event
	}
	end()
	if rest, err := io.ReadAll(events); err != nil || len(rest) > 0 {
		t.Errorf("at the end: %q, %v", rest, err)
	}
	if e := p.awaitEvent(completed, "/events"); e.status() != 200 || len(e.Errors) > 0 {
		t.Errorf("want status 200 and no error:\n%s", e.line)
	}
}

// TestUnencryptedHTTP2IsServed speaks HTTP/2 with prior knowledge, with several requests
// on one connection.
func TestUnencryptedHTTP2IsServed(t *testing.T) {
	t.Parallel()
	p := start(t, "serve", "--listen", "127.0.0.1:0", "--admin", "off")
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	t.Cleanup(transport.CloseIdleConnections)
	c := &http.Client{Transport: transport, Timeout: patience}

	a := get(t, c, p.url()+"/two?size=300000")
	if a.ProtoMajor != 2 || a.StatusCode != 200 || len(a.body) != 300_000 {
		t.Errorf("%s %s with %d bytes, want HTTP/2.0 200 with 300000", a.Proto, a.Status, len(a.body))
	}
	req, err := http.NewRequest("POST", p.url()+"/post", strings.NewReader(strings.Repeat("x", 200_000)))
	if err != nil {
		t.Fatal(err)
	}
	if a := do(t, c, req); a.StatusCode != 200 || !strings.Contains(a.body, "(a body of 200000 bytes)") {
		t.Errorf("POST: %s %q", a.Status, a.body)
	}
	e := p.awaitEvent(completed, "/two")
	if e.HTTP.Protocol != "HTTP/2.0" || e.status() != 200 || e.HTTP.ResponseContentLength != 300_000 {
		t.Errorf("want HTTP/2.0, status 200, 300000 bytes:\n%s", e.line)
	}
	p.signal(syscall.SIGTERM)
	p.wait(0)
	p.events(6)
}
