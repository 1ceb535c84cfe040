package front_test

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/internal/testkit"
)

// TestSilentTLSConnectionsEnd opens connections that send nothing, or a part of a handshake,
// while a client makes requests. All of them end at the header timeout. WEIR_LONG sets the
// promised number.
func TestSilentTLSConnectionsEnd(t *testing.T) {
	t.Parallel()
	silent, timeout := 300, time.Second
	if os.Getenv("WEIR_LONG") != "" {
		silent, timeout = 4000, 10*time.Second
	}
	d := openTLSDoor(t, upstream(t, hello).URL, limited(func(l *config.Limits) {
		l.HeaderTimeout, l.ConnectionsPerClient, l.MaxConnections = timeout, 0, 20_000
	}))
	var conns []*rawConn
	for i := range silent {
		c := dial(t, d.secure)
		if i%2 == 1 {
			c.send("\x16\x03\x01\x02\x00\x01")
		}
		conns = append(conns, c)
	}
	if resp, _ := d.ask(t, d.client("localhost"), "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"); resp.StatusCode != 200 {
		t.Error(resp.Status)
	}
	for _, c := range conns {
		io.Copy(io.Discard, c.TCPConn)
	}
	d.awaitHandshakes(t, "timeout", float64(silent))
}

// TestHandshakeFloodStopsNoConnection makes requests on an open connection while others only do handshakes.
func TestHandshakeFloodStopsNoConnection(t *testing.T) {
	t.Parallel()
	d := openTLSDoor(t, upstream(t, hello).URL)
	conn, raw := d.dialTLS(t, d.client("localhost"))
	var flood sync.WaitGroup
	var handshakes atomic.Int64
	end := make(chan struct{})
	for range 16 {
		flood.Go(func() {
			for {
				select {
				case <-end:
					return
				default:
				}
				nc, err := net.Dial("tcp", d.secure)
				if err != nil {
					t.Error(err)
					return
				}
				if err := tls.Client(nc, d.client("localhost")).Handshake(); err != nil {
					t.Error(err)
				}
				nc.Close()
				handshakes.Add(1)
			}
		})
	}
	requests := 0
	began := time.Now()
	for ; time.Since(began) < 500*time.Millisecond || handshakes.Load() < 50 || requests < 10; requests++ {
		io.WriteString(conn, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
		if resp, body := raw.response("GET"); resp.StatusCode != 200 || body != "hello" {
			t.Fatalf("%s %q", resp.Status, body)
		}
	}
	close(end)
	flood.Wait()
}

// TestOpenSSLAndCurlSpeakTLS uses the clients of OpenSSL, which also renegotiate and update keys.
func TestOpenSSLAndCurlSpeakTLS(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"openssl", "curl"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip(name + " is not installed")
		}
	}
	d := openTLSDoor(t, upstream(t, hello).URL)
	for _, version := range []string{"1.2", "1.3"} {
		out, err := exec.Command("curl", "-sk", "--http1.1", "--tlsv"+version, "--tls-max", version,
			"https://"+d.secure+"/a", "https://"+d.secure+"/b").CombinedOutput()
		if err != nil || string(out) != "hellohello" {
			t.Errorf("curl with TLS %s: %q, %v", version, out, err)
		}
	}
	// s_client takes a command only at the start of a read, so each step waits for the output of the one before.
	type step struct{ send, want string }
	client := func(version string, steps ...step) {
		t.Helper()
		in, w := io.Pipe()
		c := exec.Command("openssl", "s_client", "-"+version, "-connect", d.secure)
		out, err := os.Create(filepath.Join(t.TempDir(), "out"))
		if err != nil {
			t.Fatal(err)
		}
		defer out.Close()
		c.Stdin, c.Stdout, c.Stderr = in, out, out
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() {
			w.Close()
			c.Wait()
		}()
		read := 0
		for _, s := range append([]step{{"", "Verify return code"}}, steps...) {
			io.WriteString(w, s.send)
			testkit.Await(t, "openssl s_client -"+version+" prints "+s.want, func() bool {
				text, err := os.ReadFile(out.Name())
				if err != nil || !strings.Contains(string(text[read:]), s.want) {
					return false
				}
				read = len(text)
				return true
			})
		}
	}
	get := "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
	client("tls1_3", step{get, "hello"}, step{"K\n", "KEYUPDATE"}, step{get, "hello"})
	client("tls1_2", step{get, "hello"}, step{"R\n", "alert unexpected message"})
}

// TestLongRecordGetsAnAlert sends records beyond the maximum length.
func TestLongRecordGetsAnAlert(t *testing.T) {
	t.Parallel()
	d := openTLSDoor(t, upstream(t, hello).URL)
	for _, length := range []int{16<<10 + 257, 65535} {
		conn, raw := d.dialTLS(t, d.client("localhost"))
		raw.send(fmt.Sprintf("\x17\x03\x03%c%c", length>>8, length&255))
		if _, err := conn.Read(make([]byte, 1)); err == nil || !strings.Contains(err.Error(), "overflow") {
			t.Errorf("a record of %d bytes: %v, want the alert record_overflow", length, err)
		}
	}
}
