package transport

import (
	"bytes"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/weirhq/weir/internal/testkit"
)

func init() { operations["SendFile"] = sendProgram }

// sendProgram sends the program of the test until an error occurs, with TLS by Write.
func sendProgram(c Conn) error {
	sender, ok := c.(FileSender)
	if !ok {
		return fill(c)
	}
	f, err := os.Open("/proc/self/exe")
	if err != nil {
		return err
	}
	defer f.Close()
	for err == nil {
		_, err = sender.SendFile(nil, int(f.Fd()), 0, 1<<20)
	}
	return err
}

// patterned returns an open file of the given size, and its content.
func patterned(t testing.TB, size int) (*os.File, []byte) {
	t.Helper()
	content := make([]byte, size)
	for i := range content {
		content[i] = byte(i>>10) ^ byte(i)
	}
	name := filepath.Join(t.TempDir(), "file")
	testkit.WriteFile(t, name, string(content))
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f, content
}

// eachFileSender runs a test with each driver that can send files.
func eachFileSender(t *testing.T, test func(t *testing.T, e *engine, c FileSender, peer peer)) {
	eachEngine(t, func(t *testing.T, e *engine) {
		c, peer := e.pair(t)
		sender, ok := c.(FileSender)
		if ok == e.tls {
			t.Fatalf("%T: a FileSender is %v", c, ok)
		}
		if ok {
			test(t, e, sender, peer)
		}
	})
}

// received returns the bytes that the peer receives to the end.
func received(peer net.Conn) <-chan []byte {
	got := make(chan []byte, 1)
	go func() {
		b, _ := io.ReadAll(peer)
		got <- b
	}()
	return got
}

// TestSendFileSendsAllBytes sends a head and a file that is longer than the buffers of the sockets.
func TestSendFileSendsAllBytes(t *testing.T) {
	f, content := patterned(t, 20<<20)
	eachFileSender(t, func(t *testing.T, e *engine, c FileSender, peer peer) {
		head := []byte("head")
		full := make(chan bool)
		var got <-chan []byte
		go func() {
			<-full
			got = received(peer)
			close(full)
		}()
		e.do(func() {
			n, err := c.SendFile(head, int(f.Fd()), 0, len(content))
			if n <= len(head) || n >= len(content) || err != nil {
				t.Errorf("SendFile = %d, %v with a peer that does not read", n, err)
			}
			full <- true
			for at := n - len(head); at < len(content) && err == nil; at += n {
				n, err = c.SendFile(nil, int(f.Fd()), int64(at), len(content)-at)
			}
			if err != nil {
				t.Error(err)
			}
			c.Close()
		})
		<-full
		if want := append(head, content...); !bytes.Equal(<-got, want) {
			t.Error("the peer got other bytes")
		}
	})
}

// TestSendFileReportsTheEndOfTheFile asks for more bytes than the file has, and for bytes of a folder.
// The head is sent.
func TestSendFileReportsTheEndOfTheFile(t *testing.T) {
	f, content := patterned(t, 1000)
	folder, err := os.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	eachFileSender(t, func(t *testing.T, e *engine, c FileSender, peer peer) {
		got := received(peer)
		e.do(func() {
			if n, err := c.SendFile(nil, int(f.Fd()), 0, 2000); n != 1000 || err != nil {
				t.Errorf("SendFile = %d, %v with the rest of the file", n, err)
			}
			if n, err := c.SendFile([]byte("head"), int(f.Fd()), 1000, 1000); n != 4 || err != ErrFile {
				t.Errorf("SendFile = %d, %v at the end of the file", n, err)
			}
			if n, err := c.SendFile([]byte("more"), int(folder.Fd()), 0, 1000); n != 4 || err != ErrFile {
				t.Errorf("SendFile = %d, %v with a folder", n, err)
			}
			c.Close()
		})
		if want := string(content) + "headmore"; string(<-got) != want {
			t.Error("the peer got other bytes")
		}
	})
}

// TestSendFileAllocatesNothing sends a head and a file to a peer that discards them.
func TestSendFileAllocatesNothing(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector allocates")
	}
	f, content := patterned(t, 100<<10)
	fd, head := int(f.Fd()), []byte("head")
	eachFileSender(t, func(t *testing.T, e *engine, c FileSender, peer peer) {
		go io.Copy(io.Discard, peer)
		e.do(func() {
			n := testing.AllocsPerRun(100, func() {
				sent, err := c.SendFile(head, fd, 0, len(content))
				for at := max(sent-len(head), 0); at < len(content) && err == nil; at += sent {
					sent, err = c.SendFile(nil, fd, int64(at), len(content)-at)
				}
				if err != nil {
					t.Error(err)
				}
			})
			if n > 0 {
				t.Errorf("%v allocations", n)
			}
		})
	})
}
