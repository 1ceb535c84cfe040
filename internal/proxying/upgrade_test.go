package proxying_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/weirhq/weir/internal/proxying"
)

const (
	upgradeRequest = "GET /ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
	switching      = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
		"Sec-WebSocket-Accept: x\r\n\r\n"
)

// TestOnlyAllowedUpgradeTokensPass checks that only an allowed token is passed on, once, and
// never with a body, over HTTP/1.0, or for h2c. (D4)
func TestOnlyAllowedUpgradeTokensPass(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, method, fields string
		allowed              []string
		want                 string // "" if no token is passed on
	}{
		{"websocket by default", "GET", "Connection: Upgrade\r\nUpgrade: websocket\r\n", nil, "websocket"},
		{"in any case", "GET", "Connection: keep-alive, UPGRADE\r\nUpgrade: WebSocket\r\n", nil, "websocket"},
		{"a token of one's own", "GET", "Connection: Upgrade\r\nUpgrade: mine\r\n", []string{"mine"}, "mine"},
		{"none allowed", "GET", "Connection: Upgrade\r\nUpgrade: websocket\r\n", []string{}, ""},
		{"another", "GET", "Connection: Upgrade\r\nUpgrade: tls/1.0\r\n", nil, ""},
		{"h2c", "GET", "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAA\r\n",
			nil, ""},
		{"h2c though allowed", "GET", "Connection: Upgrade\r\nUpgrade: H2C\r\n", []string{"h2c"}, ""},
		{"a list", "GET", "Connection: Upgrade\r\nUpgrade: websocket, h2c\r\n", nil, ""},
		{"two fields", "GET", "Connection: Upgrade\r\nUpgrade: websocket\r\nUpgrade: h2c\r\n", nil, ""},
		{"not named by Connection", "GET", "Upgrade: websocket\r\n", nil, ""},
		{"POST", "POST", "Connection: Upgrade\r\nUpgrade: websocket\r\n", nil, ""},
		{"with a body", "GET", "Connection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 0\r\nX: y\r\n",
			nil, "websocket"},
		{"HTTP/1.0", "GET /1.0", "Connection: Upgrade\r\nUpgrade: websocket\r\n", nil, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := make(chan *message, 1)
			o := openOrigin(t, answering(ok, got))
			d := openDoor(t, func(p *proxying.Proxy) { p.Upgrade = test.allowed }, o.url)
			method, version := test.method, "1.1"
			if test.name == "HTTP/1.0" {
				method, version = "GET", "1.0"
			}
			m := d.dial().roundTrip(t, fmt.Sprintf("%s / HTTP/%s\r\nHost: a\r\n%s\r\n", method, version, test.fields))
			if m.body != "ok" {
				t.Errorf("the client got %q", m.raw)
			}
			up := <-got
			wantConnection := ""
			if test.want != "" {
				wantConnection = "Upgrade"
			}
			if up.get("Upgrade") != test.want || up.get("Connection") != wantConnection ||
				up.get("HTTP2-Settings") != "" {
				t.Errorf("the upstream received %q", up.raw)
			}
		})
	}
}

// TestUpgradeWithBodyIsNoUpgrade checks that a body after an upgrade request is sent as a
// body.
func TestUpgradeWithBodyIsNoUpgrade(t *testing.T) {
	t.Parallel()
	up, _ := capture(t, nil, "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
		"Content-Length: 2\r\n\r\nhi", ok)
	if up.get("Upgrade") != "" || up.body != "hi" {
		t.Errorf("the upstream received %q", up.raw)
	}
}

// TestUnwantedSwitchIsMalformed checks that a 101 that was not requested, or that switches
// to another protocol, is malformed.
func TestUnwantedSwitchIsMalformed(t *testing.T) {
	t.Parallel()
	const plain = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
	for _, test := range []struct{ name, request, answer string }{
		{"unasked", plain, switching},
		{"to another protocol", upgradeRequest, strings.Replace(switching, "websocket", "h2c", 1)},
		{"to none", upgradeRequest, "HTTP/1.1 101 Switching Protocols\r\n\r\n"},
		{"with a body", upgradeRequest, strings.Replace(switching, "\r\n", "\r\nContent-Length: 5\r\n", 1)},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := openOrigin(t, answering(test.answer+"tunnelled", nil))
			d := openDoor(t, nil, o.url)
			c := d.dial()
			m := c.roundTrip(t, test.request)
			if m.first != "HTTP/1.1 502 Bad Gateway" || strings.Contains(m.body, "tunnelled") {
				t.Errorf("the client got %q %q", m.raw, m.body)
			}
			if got := d.outcome(); got.kind != proxying.BadResponse || got.upgraded {
				t.Errorf("outcome %v", got.err)
			}
		})
	}
}

// TestTunnelLosesNoByte checks that no byte of the client is forwarded before the 101 and
// that none is lost, on either side, if it directly follows the head.
func TestTunnelLosesNoByte(t *testing.T) {
	t.Parallel()
	tooEarly := make(chan string, 1)
	o := openOrigin(t, func(w *wire) {
		if _, err := w.readHead(); err != nil {
			return
		}
		w.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
		early, _ := io.ReadAll(w.r)
		tooEarly <- string(early)
		w.SetReadDeadline(time.Now().Add(patience))
		w.say(switching + "at once;")
		buf := make([]byte, len("behind;later;"))
		if _, err := io.ReadFull(w.r, buf); err == nil {
			w.sayf("got %s", buf)
		}
		rest, err := io.ReadAll(w.r) // until the client's half-close
		w.sayf("and %q %v", rest, err)
	})
	d := openDoor(t, nil, o.url)
	c := d.dial()
	c.say(upgradeRequest + "behind;")
	h, err := c.readHead()
	if err != nil {
		t.Fatal(err)
	}
	if h.first != "HTTP/1.1 101 Switching Protocols" || h.get("Upgrade") != "websocket" ||
		h.get("Connection") != "Upgrade" || h.get("Sec-WebSocket-Accept") != "x" {
		t.Errorf("the client got %q", h.raw)
	}
	if early := <-tooEarly; early != "" {
		t.Errorf("%q passed before the 101", early)
	}
	c.say("later;last")
	c.CloseWrite()
	rest, err := io.ReadAll(c.r)
	if want := `at once;got behind;later;and "last" <nil>`; string(rest) != want || err != nil {
		t.Errorf("the client read %q, %v; want %q", rest, err, want)
	}
	if got := d.outcome(); !got.upgraded || got.status != 101 || got.err != nil ||
		got.bodySent != int64(len(rest)) || got.bodyRead != int64(len("behind;later;last")) {
		t.Errorf("outcome %+v", got)
	}
}

// TestTunnelKeepsFieldsOfMiddleware checks that the 101 contains the fields of
// middleware and of the upstream.
func TestTunnelKeepsFieldsOfMiddleware(t *testing.T) {
	t.Parallel()
	o := openOrigin(t, func(w *wire) {
		if _, err := w.readHead(); err == nil {
			w.say(strings.Replace(switching, "\r\n\r\n", "\r\nSet-Cookie: up=1\r\n\r\n", 1))
		}
	})
	d := openDoor(t, nil, o.url)
	next := d.Config.Handler
	d.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Add("Set-Cookie", "a=1")
		w.Header().Add("Set-Cookie", "b=2")
		w.Header().Set("X-Trace", "t")
		w.Header().Set("Content-Length", "5")
		next.ServeHTTP(w, r)
	})
	c := d.dial()
	c.say(upgradeRequest)
	h, err := c.readHead()
	if err != nil {
		t.Fatal(err)
	}
	if got := h.get("Set-Cookie"); got != "up=1, a=1, b=2" || h.get("X-Trace") != "t" || h.get("Content-Length") != "" {
		t.Errorf("the client got %q", h.raw)
	}
}

// TestHalfClosedTunnelStillReceives checks that an upstream that closes its half first
// still receives the rest from the client.
func TestHalfClosedTunnelStillReceives(t *testing.T) {
	t.Parallel()
	heard := make(chan string, 1)
	o := openOrigin(t, func(w *wire) {
		w.readHead()
		w.say(switching + "bye")
		w.CloseWrite()
		rest, _ := io.ReadAll(w.r)
		heard <- string(rest)
	})
	c := openDoor(t, nil, o.url).dial()
	c.say(upgradeRequest)
	c.readHead()
	if rest, err := io.ReadAll(c.r); string(rest) != "bye" || err != nil {
		t.Errorf("the client read %q, %v", rest, err)
	}
	c.say("one more thing")
	c.CloseWrite()
	if got := <-heard; got != "one more thing" {
		t.Errorf("the upstream read %q", got)
	}
}

// TestDeclinedUpgradeKeepsHTTP checks that a connection stays an HTTP connection if the
// upstream declines the upgrade.
func TestDeclinedUpgradeKeepsHTTP(t *testing.T) {
	t.Parallel()
	o := openOrigin(t, answering(ok, nil))
	c := openDoor(t, nil, o.url).dial()
	for range 2 {
		if m := c.roundTrip(t, upgradeRequest); m.body != "ok" {
			t.Errorf("the client got %q", m.raw)
		}
	}
}

// TestWebSocketMessagesPass exchanges messages through a real WebSocket implementation.
func TestWebSocketMessagesPass(t *testing.T) {
	t.Parallel()
	back := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		c.SetReadLimit(1 << 20)
		for {
			kind, p, err := c.Read(r.Context())
			if err != nil {
				return
			}
			c.Write(r.Context(), kind, p)
		}
	}))
	defer back.Close()
	d := openDoor(t, nil, back.URL)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c, _, err := websocket.Dial(ctx, d.URL, &websocket.DialOptions{HTTPClient: d.client(1)})
	if err != nil {
		t.Fatal(err)
	}
	c.SetReadLimit(1 << 20)
	for _, n := range []int{0, 1, 125, 126, 1 << 16, 1 << 19} {
		sent := strings.Repeat("x", n)
		if err := c.Write(ctx, websocket.MessageBinary, []byte(sent)); err != nil {
			t.Fatal(err)
		}
		if _, got, err := c.Read(ctx); err != nil || string(got) != sent {
			t.Fatalf("%d bytes came back as %d, %v", n, len(got), err)
		}
	}
	if err := c.Close(websocket.StatusNormalClosure, "done"); err != nil {
		t.Error(err)
	}
	if got := d.outcome(); !got.upgraded || got.err != nil {
		t.Errorf("outcome %+v", got)
	}
}
