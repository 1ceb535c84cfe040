package transport

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/netip"
	"path/filepath"
	"syscall"
	"testing"
)

// TestUnixSocketTransfersLikeTCP checks that a connection to a Unix socket transfers more than its buffers
// hold, in both directions at once, and ends like one over TCP.
func TestUnixSocketTransfersLikeTCP(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				io.Copy(nc, nc)
				nc.Close()
			}()
		}
	}()
	eachEngine(t, func(t *testing.T, e *engine) {
		e.do(func() {
			c, err := e.driver.Dial(t.Context(), UnixPrefix+path)
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			if c.Remote() != (netip.AddrPort{}) {
				t.Errorf("Remote = %v", c.Remote())
			}
			if quiet, surplus := c.Quiet(); !quiet || surplus {
				t.Errorf("Quiet = %t, %t for a new connection", quiet, surplus)
			}
			sent := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
			e.driver.Go(taskFunc(func() {
				c.Write(sent)
				c.CloseWrite()
			}))
			var received []byte
			buf := make([]byte, 64<<10)
			for err == nil {
				n := 0
				n, err = c.Read(buf)
				received = append(received, buf[:n]...)
			}
			if err != io.EOF || !bytes.Equal(received, sent) {
				t.Errorf("%d of %d bytes returned, %v", len(received), len(sent), err)
			}
			if quiet, surplus := c.Quiet(); quiet || surplus {
				t.Errorf("Quiet = %t, %t after the end of the stream", quiet, surplus)
			}
		})
	})
}

// TestUnixSocketErrorsKeepTheirCause checks the properties of errors by which the proxy classifies them.
func TestUnixSocketErrorsKeepTheirCause(t *testing.T) {
	abandoned := filepath.Join(t.TempDir(), "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: abandoned, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
	eachEngine(t, func(t *testing.T, e *engine) {
		for path, want := range map[string]error{
			abandoned:          syscall.ECONNREFUSED,
			abandoned + ".not": syscall.ENOENT,
		} {
			e.do(func() {
				c, err := e.driver.Dial(t.Context(), UnixPrefix+path)
				var operation *net.OpError
				if c != nil || !errors.Is(err, want) || !errors.As(err, &operation) || operation.Net != "unix" {
					t.Errorf("Dial = %v, %v, want %v in a *net.OpError", c, err, want)
				}
			})
		}
	})
}
