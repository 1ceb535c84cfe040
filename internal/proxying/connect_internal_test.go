package proxying

import (
	"context"
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirhq/weir/internal/transport"
)

// TestWaitingExchangesAreLimited checks that at most maxWaiting exchanges wait and that further
// ones fail immediately.
func TestWaitingExchangesAreLimited(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	nobody := Endpoint{URL: "http://" + c.LocalAddr().String()}
	up, err := NewUpstream("test", Options{Servers: []Endpoint{nobody}, ConnectRetry: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	up.waiting.Store(maxWaiting)
	x := &Exchange{}
	tr := &transfer{x: x, up: up}
	_, failure := up.connect(tr, newConnOnly)
	if !errors.Is(failure, ErrTooManyWaiting) {
		t.Errorf("one more than may wait: %v", failure)
	}
	if n, _ := up.Waiting(); n != maxWaiting {
		t.Errorf("%d wait afterwards, want %d", n, maxWaiting)
	}
}

// A restarting driver accepts the second and the fourth connection, and closes the second one without a response. In
// the pause before the third one, another exchange fails to connect.
type restarting struct {
	replay
	server *Server
}

func (r *restarting) Dial(context.Context, string) (transport.Conn, error) {
	switch r.dials++; r.dials {
	case 2:
		return &replayConn{replay: new(replay)}, nil
	case 4:
		return &replayConn{replay: &r.replay}, nil
	}
	return nil, errors.New("refused by the test")
}

func (r *restarting) Block(f func()) {
	f()
	if r.dials == 2 {
		r.server.state.NoteNotConnected(time.Now(), time.Now())
	}
}

// TestRetriedRequestWaitsAgain sends a request again that has waited for its first connection. If there is none again,
// it waits again.
func TestRetriedRequestWaitsAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		up, err := NewUpstream("test", Options{Servers: oneServer, ConnectRetry: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		defer up.Close()
		waits := 0
		p := &Proxy{Upstream: up, Hook: func(_ *Exchange, e Event) {
			if e == Waiting {
				waits++
			}
		}}
		d := &restarting{replay{index: 1, response: []byte(typicalResponse)}, up.Servers()[0]}
		x := &Exchange{Method: "GET", Target: "/", Host: "a", Scheme: "http", Driver: d, Client: new(discard)}
		p.Serve(x)
		if x.Err != nil || x.Status != 200 || x.Retried != RetryReset || d.dials != 4 || waits != 2 {
			t.Errorf("status %d after %d attempts to connect and %d waits, retried on %q: %v", x.Status, d.dials, waits,
				x.Retried, x.Err)
		}
	})
}
