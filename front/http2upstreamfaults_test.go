package front_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/internal/testkit"
)

// A frameServer is the server's side of a connection of HTTP/2, as a test plays it.
type frameServer struct {
	*http2.Framer
	nc     *net.TCPConn
	number int64 // of the connection, from 1
}

// openFrames starts a server that calls f with each stream that is opened, after the exchange of
// SETTINGS. settings are those of the server.
func openFrames(t *testing.T, f func(s *frameServer, stream uint32), settings ...http2.Setting) (url string) {
	t.Helper()
	var conns atomic.Int64
	return "http://" + testkit.ServeConns(t, func(nc *net.TCPConn) {
		s := &frameServer{http2.NewFramer(nc, nc), nc, conns.Add(1)}
		if _, err := io.ReadFull(nc, make([]byte, len(http2.ClientPreface))); err != nil {
			return
		}
		s.WriteSettings(settings...)
		for {
			frame, err := s.ReadFrame()
			if err != nil {
				return
			}
			switch frame := frame.(type) {
			case *http2.SettingsFrame:
				if !frame.IsAck() {
					s.WriteSettingsAck()
				}
			case *http2.PingFrame:
				s.WritePing(true, frame.Data)
			case *http2.HeadersFrame:
				f(s, frame.StreamID)
			}
		}
	})
}

// head sends a header block.
func (s *frameServer) head(stream uint32, end bool, fields ...string) {
	var b bytes.Buffer
	e := hpack.NewEncoder(&b)
	for i := 0; i < len(fields); i += 2 {
		e.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]})
	}
	s.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: b.Next(16 << 10), EndStream: end,
		EndHeaders: b.Len() == 0})
	for b.Len() > 0 {
		part := b.Next(16 << 10)
		s.WriteContinuation(stream, b.Len() == 0, part)
	}
}

// ok responds with 200 and a body.
func (s *frameServer) ok(stream uint32) {
	s.head(stream, false, ":status", "200")
	s.WriteData(stream, true, []byte("ok"))
}

// TestHTTP2UpstreamFaultsHaveTheirResponse checks the response for each fault of a server, for GET and POST, and
// which requests are sent again.
func TestHTTP2UpstreamFaultsHaveTheirResponse(t *testing.T) {
	onFirst := func(fault func(s *frameServer, stream uint32)) func(*frameServer, uint32) {
		return func(s *frameServer, stream uint32) {
			if s.number == 1 {
				fault(s, stream)
			} else {
				s.ok(stream)
			}
		}
	}
	for _, c := range []struct {
		name      string
		play      func(s *frameServer, stream uint32)
		get, post string // status, body and kind of failure
	}{
		{"a response", (*frameServer).ok, "200 ok", "200 ok"},
		{"GOAWAY before the stream", onFirst(func(s *frameServer, _ uint32) {
			s.WriteGoAway(0, http2.ErrCodeNo, nil)
		}), "200 ok", "200 ok"},
		{"GOAWAY after the stream", func(s *frameServer, stream uint32) {
			s.WriteGoAway(stream, http2.ErrCodeNo, nil)
			s.ok(stream)
		}, "200 ok", "200 ok"},
		{"REFUSED_STREAM", func(s *frameServer, stream uint32) {
			if stream == 1 {
				s.WriteRSTStream(stream, http2.ErrCodeRefusedStream)
			} else {
				s.ok(stream)
			}
		}, "200 ok", "200 ok"},
		{"REFUSED_STREAM after early hints", func(s *frameServer, stream uint32) {
			if stream == 1 {
				s.head(stream, false, ":status", "103")
				s.WriteRSTStream(stream, http2.ErrCodeRefusedStream)
			} else {
				s.ok(stream)
			}
		}, "200 ok", "502 reset"},
		{"REFUSED_STREAM always", func(s *frameServer, stream uint32) {
			s.WriteRSTStream(stream, http2.ErrCodeRefusedStream)
		}, "502 reset", "502 reset"},
		{"RST_STREAM", func(s *frameServer, stream uint32) {
			s.WriteRSTStream(stream, http2.ErrCodeInternal)
		}, "502 reset", "502 reset"},
		{"a close", onFirst(func(s *frameServer, _ uint32) { s.nc.Close() }), "200 ok", "502 closed"},
		{"a reset", onFirst(func(s *frameServer, _ uint32) {
			s.nc.SetLinger(0)
			s.nc.Close()
		}), "200 ok", "502 closed"},
		{"a long header list", func(s *frameServer, stream uint32) {
			s.head(stream, true, ":status", "200", "x-a", strings.Repeat("a", 70<<10))
		}, "502 bad_answer", "502 bad_answer"},
		{"many fields", func(s *frameServer, stream uint32) {
			fields := []string{":status", "200"}
			for i := range 300 {
				fields = append(fields, fmt.Sprint("x-", i), "a")
			}
			s.head(stream, true, fields...)
		}, "502 bad_answer", "502 bad_answer"},
		{"no status", func(s *frameServer, stream uint32) { s.head(stream, true, "a", "b") }, "502 bad_answer",
			"502 bad_answer"},
		{"a field of HTTP/1", func(s *frameServer, stream uint32) {
			s.head(stream, true, ":status", "200", "connection", "close")
		}, "502 bad_answer", "502 bad_answer"},
		{"DATA before the head", func(s *frameServer, stream uint32) {
			s.WriteData(stream, false, []byte("ok"))
			s.ok(stream)
		}, "502 bad_answer", "502 bad_answer"},
		{"DATA between 103 and the head", func(s *frameServer, stream uint32) {
			s.head(stream, false, ":status", "103")
			s.WriteData(stream, false, []byte("ok"))
			s.ok(stream)
		}, "502 bad_answer", "502 bad_answer"},
		{"a short body", func(s *frameServer, stream uint32) {
			s.head(stream, false, ":status", "200", "content-length", "5")
			s.WriteData(stream, true, []byte("ok"))
		}, "cut bad_answer", "cut bad_answer"},
		{"RST_STREAM in the body", func(s *frameServer, stream uint32) {
			s.head(stream, false, ":status", "200")
			s.WriteData(stream, false, []byte("ok"))
			s.WriteRSTStream(stream, http2.ErrCodeInternal)
		}, "cut truncated", "cut truncated"},
		{"a push", func(s *frameServer, stream uint32) {
			s.WritePushPromise(http2.PushPromiseParam{StreamID: stream, PromiseID: 2, EndHeaders: true})
		}, "502 bad_answer", "502 bad_answer"},
		{"early hints", func(s *frameServer, stream uint32) {
			s.head(stream, false, ":status", "103", "link", "</a>")
			s.ok(stream)
		}, "200 ok", "200 ok"},
		{"silence", func(*frameServer, uint32) {}, "504 timeout", "504 timeout"},
	} {
		timeout := testTimeout
		if c.name == "silence" {
			timeout = 300 * time.Millisecond
		}
		t.Run(c.name, func(t *testing.T) {
			for method, want := range map[string]string{"GET": c.get, "POST": c.post} {
				d := openDoor(t, openFrames(t, c.play), withHTTP2, func(c *config.Config) {
					c.Routes[0].Timeout, c.Upstreams[0].ConnectWait = timeout, 0
				})
				var body io.Reader
				if method == "POST" {
					body = strings.NewReader("body")
				}
				req, err := http.NewRequest(method, d.url("/"), body)
				if err != nil {
					t.Fatal(err)
				}
				got := ""
				resp, err := http.DefaultClient.Do(req)
				if err != nil {
					t.Fatal(err)
				}
				text, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				failure := d.completed(t, "/").Data["failure"]
				switch {
				case err != nil:
					got = fmt.Sprint("cut ", failure)
				case failure != nil:
					got = fmt.Sprint(resp.StatusCode, " ", failure)
				default:
					got = fmt.Sprintf("%d %s", resp.StatusCode, text)
				}
				if got != want {
					t.Errorf("%s: %s, want %s (%v)", method, got, want, d.completed(t, "/").Errors)
				}
			}
		})
	}
}

func TestTimeoutLimitsTheWaitForAWindow(t *testing.T) {
	t.Parallel()
	url := openFrames(t, func(*frameServer, uint32) {}, http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
	for _, size := range []int{10, 100_000} {
		d := openDoor(t, url, withHTTP2, func(c *config.Config) { c.Routes[0].Timeout = 200 * time.Millisecond })
		resp, err := http.Post(d.url("/"), "text/plain", strings.NewReader(strings.Repeat("x", size)))
		if err != nil {
			t.Fatal(err)
		}
		if resp.Body.Close(); resp.StatusCode != 504 {
			t.Errorf("status %d for %d bytes, want 504", resp.StatusCode, size)
		}
	}
}

func TestServerWithoutHTTP2Gives502(t *testing.T) {
	t.Parallel()
	d := openDoor(t, upstream(t, hello).URL, withHTTP2, func(c *config.Config) { c.Upstreams[0].ConnectWait = 0 })
	if status, _ := fetch(t, d.url("/")); status != 502 {
		t.Errorf("status %d", status)
	}
	if failure := d.completed(t, "/").Data["failure"]; failure != "connect" {
		t.Errorf("the kind of the failure is %v", failure)
	}
}
