package transport

import (
	"bytes"
	"crypto/tls"
	"io"
	"math/rand/v2"
	"net"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/testkit"
)

// A recording is a connection that keeps what is written to it once it has begun.
type recording struct {
	net.Conn
	begun   bool
	written bytes.Buffer
}

func (r *recording) Write(p []byte) (int, error) {
	if r.begun {
		return r.written.Write(p)
	}
	return r.Conn.Write(p)
}

// A pieces is a Carrier from which bytes arrive in random pieces.
type pieces struct {
	Carrier
	left []byte
	rand *rand.Rand
}

func (p *pieces) piece(b []byte) int {
	n := copy(b[:min(len(b), 1+p.rand.IntN(1<<p.rand.IntN(16)))], p.left)
	p.left = p.left[n:]
	return n
}

func (p *pieces) ReadInto(s Space) (int, error) {
	s.Space()
	s.GiveBack() // as after a wait
	if n := p.piece(s.Space()); n > 0 {
		return n, nil
	}
	return 0, io.EOF
}

func (p *pieces) TryRead(b []byte) (n int, ok bool, err error) {
	if p.rand.IntN(3) == 0 {
		return 0, false, nil
	}
	return p.piece(b), true, nil
}

func (p *pieces) Quiet() (quiet, surplus bool)    { return p.rand.IntN(3) == 0, len(p.left) > 0 }
func (p *pieces) TryWrite(b []byte) (int, error)  { return p.rand.IntN(len(b) + 1), nil }
func (p *pieces) SetReadDeadline(time.Time) error { return nil }

// FuzzTLSRead reads what a client of crypto/tls has sent, with all methods, while the
// ciphertext arrives in random pieces. If a byte is changed or cut, the bytes that are read
// before the error are the first ones that were sent.
func FuzzTLSRead(f *testing.F) {
	f.Add(uint64(1), []byte{1}, -1, false)
	f.Add(uint64(2), []byte{0, 1, 200, 255, 3}, -1, true)
	f.Add(uint64(3), []byte{255, 255, 255, 255, 255, 9}, -1, true)
	f.Add(uint64(4), []byte{100, 100}, 300, true)
	f.Add(uint64(5), []byte{5, 250, 5}, 3, false)
	f.Fuzz(func(t *testing.T, seed uint64, sizes []byte, change int, cut bool) {
		if len(sizes) > 30 {
			return
		}
		random := rand.New(rand.NewPCG(seed, 0))
		accepted, nc := testkit.Pair(t)
		carrier, err := NewConn(accepted)
		if err != nil {
			t.Fatal(err)
		}
		defer carrier.Close()
		config := clientConfig()
		if seed%2 == 1 {
			config.MaxVersion = tls.VersionTLS12
		}
		sent := &recording{Conn: nc}
		client := tls.Client(sent, config)
		failed := make(chan error, 1)
		go func() { failed <- client.Handshake() }()
		server := NewTLSServer(carrier, nil, serverConfig())
		if err := server.Handshake(Goroutines.Block); err != nil {
			t.Fatal(err)
		}
		if err := <-failed; err != nil {
			t.Fatal(err)
		}
		sent.begun = true
		var want []byte
		for _, size := range sizes {
			part := bytes.Repeat([]byte{size}, int(size)*int(size)/2)
			client.Write(part)
			want = append(want, part...)
		}
		client.CloseWrite()
		received := sent.written.Bytes()
		intact := true
		if change >= 0 && change < len(received) {
			if intact = false; cut {
				received = received[:change]
			} else {
				received[change] ^= 1
			}
		}
		server.Move(&pieces{Carrier: carrier, left: received, rand: random})
		got, err := readAll(t, server, random)
		switch {
		case intact && (!bytes.Equal(got, want) || err != io.EOF):
			t.Errorf("got %d bytes, %v; want %d", len(got), err, len(want))
		case !intact && (!bytes.HasPrefix(want, got) || err == io.EOF || err == nil):
			t.Errorf("after a change: got %d bytes, %v", len(got), err)
		}
		if server.in.block != nil && server.in.r == server.in.w {
			t.Error("an empty block is held")
		}
	})
}

// readAll reads with random methods until an error, which is io.EOF at the end.
func readAll(t *testing.T, c *TLSConn, random *rand.Rand) (got []byte, err error) {
	for err == nil {
		p, n, ok := make([]byte, 1+random.IntN(1<<random.IntN(16))), 0, true
		switch random.IntN(4) {
		case 0:
			n, err = c.Read(p)
		case 1:
			h := &heap{b: p}
			if n, err = c.ReadInto(h); h.taken > h.returns+1 {
				t.Error("space is taken twice")
			}
		case 2:
			if n, ok, err = c.TryRead(p); ok && n == 0 && err == nil {
				err = io.EOF
			}
		default:
			c.Quiet()
		}
		got = append(got, p[:n]...)
	}
	return got, err
}
