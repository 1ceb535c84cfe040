package otlpsink

import (
	"encoding/pem"
	"io"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A relay forwards connections to a server until it is cut. It never closes one by itself.
type relay struct {
	net.Listener
	accepted atomic.Int64

	mu  sync.Mutex
	cut []*atomic.Bool // of each connection
}

func startRelay(t *testing.T, to string) *relay {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	r := &relay{Listener: l}
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			r.accepted.Add(1)
			far, err := net.Dial("tcp", to)
			if err != nil {
				t.Error(err)
				return
			}
			t.Cleanup(func() { near.Close(); far.Close() })
			isCut := new(atomic.Bool)
			r.mu.Lock()
			r.cut = append(r.cut, isCut)
			r.mu.Unlock()
			go forward(near, far, isCut)
			go forward(far, near, isCut)
		}
	}()
	return r
}

// forward copies bytes, and discards them once the connection is cut.
func forward(to io.Writer, from io.Reader, isCut *atomic.Bool) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		if !isCut.Load() {
			to.Write(buf[:n])
		}
	}
}

// cutAll cuts the connections so far, as a network does that fails silently.
func (r *relay) cutAll() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, isCut := range r.cut {
		isCut.Store(true)
	}
}

// TestCutConnectionIsReplaced cuts the network of a connection of HTTP/2 without a FIN. The batch that notices it fails,
// after the timeout or, if that is longer, after a ping without a response. The next one gets another connection.
func TestCutConnectionIsReplaced(t *testing.T) {
	for name, timeout := range map[string]string{"timeout": "200ms", "ping": "5m"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startServer(t, nil)
			secure := httptest.NewUnstartedServer(s.Config.Handler)
			secure.EnableHTTP2 = true
			secure.StartTLS()
			t.Cleanup(secure.CloseClientConnections)
			r := startRelay(t, secure.Listener.Addr().String())
			ca := filepath.Join(t.TempDir(), "ca.pem")
			text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.TLS.Certificates[0].Certificate[0]})
			if err := os.WriteFile(ca, text, 0o600); err != nil {
				t.Fatal(err)
			}
			d, err := New("otlp+https://" + r.Addr().String() + "?ca=" + ca + "&timeout=" + timeout)
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			for d.Deliver(t.Context(), batch(1)) != nil { // a slow machine may need longer than the timeout
			}
			connections := r.accepted.Load()
			r.cutAll()
			began := time.Now()
			if err := d.Deliver(t.Context(), batch(1)); err == nil {
				t.Error("a batch was delivered over a network that is cut")
			}
			if took := time.Since(began); took > time.Minute {
				t.Errorf("the cut was noticed after %v", took)
			}
			if err := d.Deliver(t.Context(), batch(1)); err != nil || r.accepted.Load() == connections {
				t.Errorf("the next batch: %v, over %d new connections", err, r.accepted.Load()-connections)
			}
			if proto := s.requests[0].Proto; proto != "HTTP/2.0" {
				t.Errorf("the protocol is %s", proto)
			}
		})
	}
}
