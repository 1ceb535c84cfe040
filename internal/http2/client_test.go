package http2_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	xhttp2 "golang.org/x/net/http2"

	"github.com/weirhq/weir/internal/http2"
	"github.com/weirhq/weir/internal/transport"
)

// newClient returns the server of a client. The client has opened no stream.
func newClient(t *testing.T) *peer {
	p := newPeer(t)
	p.conn = http2.NewClient(p.wire, transport.Goroutines, p.side)
	p.wire.out.Next(len(xhttp2.ClientPreface))
	p.WriteSettings()
	p.flush()
	p.expect("SETTINGS 2=0 4=262144 6=4096, WINDOW_UPDATE 0 983041, SETTINGS ACK")
	return p
}

// open sends the head of a request, and calls exchange in a task. Its result is set when the exchange has ended.
func (p *peer) open(method string, end bool, exchange func(s *http2.Stream) string) (result *string) {
	h := http2.NewHead()
	for i := 0; i < len(getFields); i += 2 {
		h.Add(getFields[i], getFields[i+1])
	}
	s := p.conn.Open(h, end, method == "HEAD")
	if s == nil {
		p.t.Fatal("no stream can be opened")
	}
	result = new(string)
	p.side.running.Go(func() {
		defer s.Close()
		*result = exchange(s)
	})
	return result
}

var getFields = []string{":method", "GET", ":scheme", "http", ":authority", "a", ":path", "/"}

// hold does not read a response, and ends when its stream is cancelled.
func hold(s *http2.Stream) string {
	c := make(cancellation, 1)
	s.Bind(c)
	<-c
	return ""
}

// readResponse returns the heads, the body and the trailers of a response as text, or an error.
func readResponse(s *http2.Stream) string {
	var parts []string
	for status := 0; status < 200; {
		h, err := s.ReadHead()
		if err != nil {
			return err.Error()
		}
		status = h.Status
		parts = append(parts, fmt.Sprint(status))
		for _, f := range h.Fields {
			parts = append(parts, f.Name+"="+f.Value)
		}
	}
	body, err := readBody(s)
	if err != nil {
		return err.Error()
	}
	parts = append(parts, fmt.Sprintf("%q", body))
	for _, f := range s.Trailers() {
		parts = append(parts, f.Name+"="+f.Value)
	}
	return strings.Join(parts, " ")
}

// TestClientsConformToRFC9113 sends frames to a client that has sent a GET request on stream 1.
func TestClientsConformToRFC9113(t *testing.T) {
	for _, c := range slices.Concat(responseCases, faultyResponseCases, faultyServerCases) {
		t.Run(c.section+" "+c.behaviour, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				p := newClient(t)
				got := p.open("GET", true, readResponse)
				p.flush()
				p.expect("HEADERS 1 GET http a / END_STREAM")
				c.play(p)
				p.flush()
				p.expect(c.want)
				var want []http2.Reason
				if c.reason != "" {
					want = append(want, c.reason)
				}
				if reasons := p.close(); !slices.Equal(reasons, want) {
					t.Errorf("failed because of %q, want %q", reasons, want)
				}
				if !strings.Contains(*got, c.response) {
					t.Errorf("the response is %q, want %q", *got, c.response)
				}
			})
		})
	}
}

// A clientCase is what a server sends, and its effects.
type clientCase struct {
	section, behaviour string
	play               func(p *peer)
	response           string       // or a part of the error
	want               string       // what the server receives
	reason             http2.Reason // of the only failure; "" if there is none
}

const cancelled = "RST_STREAM 1 PROTOCOL_ERROR"

var responseCases = []clientCase{
	{"8.1", "a response", func(p *peer) {
		p.head(1, false, ":status", "200", "x-a", " a ")
		p.WriteData(1, false, []byte("bo"))
		p.WriteDataPadded(1, true, []byte("dy"), make([]byte, 9))
	}, `200 x-a=a "body"`, "", ""},
	{"8.1", "a response without a body", func(p *peer) { p.head(1, true, ":status", "204") }, `204 ""`, "", ""},
	{"8.1", "a response with trailers", func(p *peer) {
		p.head(1, false, ":status", "200", "content-length", "4")
		p.WriteData(1, false, []byte("body"))
		p.head(1, true, "x-sum", " 1")
	}, `200 content-length=4 "body" x-sum=1`, "", ""},
	{"8.1", "informational responses", func(p *peer) {
		p.head(1, false, ":status", "103", "link", "</a>")
		p.head(1, false, ":status", "103")
		p.head(1, true, ":status", "200")
	}, `103 link=</a> 103 200 ""`, "", ""},
	{"8.1", "HEADERS with padding and a priority", func(p *peer) {
		p.WriteHeaders(xhttp2.HeadersFrameParam{StreamID: 1, BlockFragment: p.fields(":status", "200"), EndHeaders: true,
			EndStream: true, PadLength: 5, Priority: xhttp2.PriorityParam{StreamDep: 3}})
	}, `200 ""`, "", ""},
	{"6.10", "a head in several frames", func(p *peer) {
		block := p.fields(":status", "200", "x-a", "a")
		p.WriteHeaders(xhttp2.HeadersFrameParam{StreamID: 1, EndStream: true, BlockFragment: block[:2]})
		p.WriteContinuation(1, true, block[2:])
	}, `200 x-a=a ""`, "", ""},
	{"5.1", "frames after the end of a response are ignored", func(p *peer) {
		p.head(1, true, ":status", "200")
		p.flush()
		p.WriteData(1, true, []byte("late"))
		p.head(1, true, "x-sum", "1")
		p.WriteRSTStream(1, xhttp2.ErrCodeNo)
		p.WriteWindowUpdate(1, 1)
		p.WritePing(false, [8]byte{'a'})
	}, `200 ""`, "PING ACK a", ""},
	{"6.8", "GOAWAY that accepts the stream", func(p *peer) {
		p.WriteGoAway(1, xhttp2.ErrCodeNo, nil)
		p.head(1, true, ":status", "200")
	}, `200 ""`, "GOAWAY 0 NO_ERROR, end", ""},
	{"6.8", "GOAWAY that does not accept the stream", func(p *peer) { p.WriteGoAway(0, xhttp2.ErrCodeNo, nil) },
		"has refused", "GOAWAY 0 NO_ERROR, end", ""},
	{"8.7", "REFUSED_STREAM before a response", func(p *peer) { p.WriteRSTStream(1, xhttp2.ErrCodeRefusedStream) },
		"has refused", "", ""},
	{"8.7", "REFUSED_STREAM after an informational response", func(p *peer) {
		p.head(1, false, ":status", "103")
		p.WriteRSTStream(1, xhttp2.ErrCodeRefusedStream)
	}, "REFUSED_STREAM", "", ""},
	{"5.4.2", "RST_STREAM in the middle of a response", func(p *peer) {
		p.head(1, false, ":status", "200")
		p.WriteRSTStream(1, xhttp2.ErrCodeInternal)
	}, "has reset the stream with INTERNAL_ERROR", "", ""},
	{"5.4.1", "the end of the connection", func(p *peer) { p.wire.change(func() { p.wire.inEnded = true }) },
		"connection has ended", "close", ""},
}

// Errors of the server that reset the stream.
var faultyResponseCases = []clientCase{
	{"5.1", "DATA before the head", func(p *peer) { p.WriteData(1, false, []byte("a")) }, "before the head", cancelled,
		http2.Malformed},
	{"8.1", "trailers that do not end the stream", func(p *peer) {
		p.head(1, false, ":status", "200")
		p.head(1, false, "x-sum", "1")
	}, "do not end", cancelled, http2.Trailers},
	{"8.1", "a pseudo-header field in the trailers", func(p *peer) {
		p.head(1, false, ":status", "200")
		p.head(1, true, ":status", "200")
	}, "not allowed in a trailer", cancelled, http2.Trailers},
	{"8.1", "trailers that are not valid", func(p *peer) {
		p.head(1, false, ":status", "200")
		p.head(1, true, "X-Sum", "1")
	}, "name of a field", cancelled, http2.Trailers},
	{"8.1", "many informational responses", func(p *peer) {
		p.open("GET", true, hold)
		p.flush()
		p.got = nil
		for range 17 {
			p.head(3, false, ":status", "103")
		}
	}, "connection has ended", "RST_STREAM 3 PROTOCOL_ERROR", http2.Malformed},
	{"8.1.1", "a body longer than its content-length", func(p *peer) {
		p.head(1, false, ":status", "200", "content-length", "3")
		p.WriteData(1, true, []byte("body"))
	}, "longer", cancelled, http2.BodyLength},
	{"8.1.1", "a body shorter than its content-length", func(p *peer) {
		p.head(1, false, ":status", "200", "content-length", "5")
		p.WriteData(1, true, []byte("body"))
	}, "shorter", cancelled, http2.BodyLength},
	{"8.1.1", "no body but a content-length", func(p *peer) { p.head(1, true, ":status", "200", "content-length", "5") },
		"not the length", cancelled, http2.Malformed},
	{"8.6", "content-length twice", func(p *peer) {
		p.head(1, true, ":status", "200", "content-length", "0", "content-length", "0")
	}, "content-length", cancelled, http2.Malformed},
	{"8.2.1", "a name with upper-case letters", func(p *peer) { p.head(1, true, ":status", "200", "X-A", "a") },
		"name of a field", cancelled, http2.Malformed},
	{"8.2.2", "transfer-encoding", func(p *peer) { p.head(1, true, ":status", "200", "transfer-encoding", "chunked") },
		"HTTP/1", cancelled, http2.Malformed},
	{"8.3.2", "no :status", func(p *peer) { p.head(1, true, "x-a", "a") }, ":status", cancelled, http2.Malformed},
	{"8.3.2", "an empty head", func(p *peer) { p.rawHead(1, true, nil) }, ":status", cancelled, http2.Malformed},
	{"8.3.2", ":status twice", func(p *peer) { p.head(1, true, ":status", "200", ":status", "200") }, "pseudo", cancelled,
		http2.Malformed},
	{"8.3.2", "a :status that is no number", func(p *peer) { p.head(1, true, ":status", "2x0") }, "number", cancelled,
		http2.Malformed},
	{"8.3.2", "a :status of four digits", func(p *peer) { p.head(1, true, ":status", "2000") }, "not valid", cancelled,
		http2.Malformed},
	{"8.3.2", "a :status above 599", func(p *peer) { p.head(1, true, ":status", "600") }, "not valid", cancelled,
		http2.Malformed},
	{"8.6", "status 101", func(p *peer) { p.head(1, false, ":status", "101") }, "101", cancelled, http2.Malformed},
	{"8.1", "an informational response that ends the stream", func(p *peer) { p.head(1, true, ":status", "103") },
		"informational", cancelled, http2.Malformed},
	{"10.5.1", "a header list longer than MAX_HEADER_LIST_SIZE", func(p *peer) {
		p.head(1, true, ":status", "200", "a", strings.Repeat("a", headerList/2), "b", strings.Repeat("b", headerList/2))
	}, "too long", "RST_STREAM 1 ENHANCE_YOUR_CALM", http2.HeaderList},
	{"10.5.1", "a field of twice MAX_HEADER_LIST_SIZE", func(p *peer) {
		p.head(1, true, ":status", "200", "a", strings.Repeat("a", 2*headerList))
	}, "too long", "RST_STREAM 1 ENHANCE_YOUR_CALM", http2.HeaderList},
	{"6.9", "DATA beyond the window of the stream", func(p *peer) {
		p.open("GET", true, hold)
		p.flush()
		p.got = nil
		p.head(3, false, ":status", "200")
		p.data(3, 256<<10)
		p.flush()
		p.got = nil
		p.WriteData(3, false, []byte("a"))
	}, "connection has ended", "RST_STREAM 3 FLOW_CONTROL_ERROR", http2.FlowControl},
}

// Errors of the server that end the connection.
var faultyServerCases = []clientCase{
	{"5.1", "HEADERS of an idle stream", func(p *peer) { p.head(3, true, ":status", "200") }, "not open", badFrame,
		http2.Protocol},
	{"5.1", "HEADERS of a stream of the server", func(p *peer) { p.head(2, true, ":status", "200") }, "cannot open",
		badFrame, http2.Protocol},
	{"5.1", "DATA of an idle stream", func(p *peer) { p.WriteData(3, true, nil) }, "not open", badFrame, http2.Protocol},
	{"5.1", "WINDOW_UPDATE of an idle stream", func(p *peer) { p.WriteWindowUpdate(3, 1) }, "not open", badFrame,
		http2.Protocol},
	{"5.1", "RST_STREAM of an idle stream", func(p *peer) { p.WriteRSTStream(3, 0) }, "not open", badFrame, http2.Protocol},
	{"6.5.2", "INITIAL_WINDOW_SIZE above 2^31-1", func(p *peer) {
		p.WriteSettings(xhttp2.Setting{ID: xhttp2.SettingInitialWindowSize, Val: 1 << 31})
	}, "", "GOAWAY 0 FLOW_CONTROL_ERROR, end", http2.FlowControl},
	{"8.4", "PUSH_PROMISE", func(p *peer) {
		p.WritePushPromise(xhttp2.PushPromiseParam{StreamID: 1, PromiseID: 2, EndHeaders: true})
	}, "push", badFrame, http2.Protocol},
	{"4.3", "a header block that cannot be decoded", func(p *peer) { p.rawHead(1, true, []byte{0x80}) }, "",
		"GOAWAY 0 COMPRESSION_ERROR, end", http2.Compression},
}

// The server responds to the preface with HTTP/1.
func TestServerOfHTTP1IsAnError(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := newPeer(t)
		p.conn = http2.NewClient(p.wire, transport.Goroutines, p.side)
		p.wire.out.Next(len(xhttp2.ClientPreface))
		p.out.WriteString("HTTP/1.1 400 Bad Request\r\n\r\n")
		p.flush()
		p.expect("SETTINGS 2=0 4=262144 6=4096, WINDOW_UPDATE 0 983041, " + badFrame)
		if err := p.conn.AwaitUsable(time.Minute); err == nil || !strings.Contains(err.Error(), "HTTP/1") {
			t.Error(err)
		}
		p.close()
	})
}

// The response has a content-length.
func TestResponseToHEADHasNoBody(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := newClient(t)
		got := p.open("HEAD", true, readResponse)
		p.head(1, true, ":status", "200", "content-length", "5")
		p.flush()
		if p.close(); *got != `200 content-length=5 ""` {
			t.Error(*got)
		}
	})
}

// The server ends a response before its request.
func TestRequestBodyFollowsTheServer(t *testing.T) {
	for _, c := range []struct {
		name string
		play func(p *peer)
		want string
	}{
		{"is sent as far as the windows allow", func(p *peer) {
			p.WriteWindowUpdate(1, 5)
			p.flush()
			p.WriteWindowUpdate(1, large)
			p.WriteWindowUpdate(0, large)
			p.flush()
			p.head(1, true, ":status", "200")
		}, `<nil> 200 ""`},
		{"is not sent after RST_STREAM with NO_ERROR", func(p *peer) {
			p.head(1, true, ":status", "413")
			p.WriteRSTStream(1, xhttp2.ErrCodeNo)
		}, http2.ErrReset.Error() + ` 413 ""`},
		{"is not sent after another RST_STREAM", func(p *peer) { p.WriteRSTStream(1, xhttp2.ErrCodeCancel) },
			"http/2: the server has reset the stream with CANCEL http/2: the server has reset the stream with CANCEL"},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				p := newClient(t)
				got := p.open("POST", false, func(s *http2.Stream) string {
					_, err := s.Write(make([]byte, large), true)
					return fmt.Sprint(err, " ", readResponse(s))
				})
				p.flush()
				p.expect("HEADERS 1 GET http a /, DATA 1 16384, DATA 1 16384, DATA 1 16384, DATA 1 16383")
				if !p.conn.HoldsUp() {
					t.Error("the connection does not hold up other requests")
				}
				c.play(p)
				p.flush()
				if p.close(); *got != c.want {
					t.Errorf("%q, want %q", *got, c.want)
				}
			})
		})
	}
}

// TestStoppedRequestHoldsUpNoOther ends a response while the body of its request waits for the window of the
// connection, before that of another request. The other one is sent when the window opens, although the exchange of the
// first has not ended.
func TestStoppedRequestHoldsUpNoOther(t *testing.T) {
	for _, c := range []struct {
		name string
		play func(p *peer)
		want string // the error of the first request
	}{
		{"a response and NO_ERROR", func(p *peer) {
			p.head(1, true, ":status", "200")
			p.WriteRSTStream(1, xhttp2.ErrCodeNo)
		}, http2.ErrReset.Error()},
		{"CANCEL", func(p *peer) { p.WriteRSTStream(1, xhttp2.ErrCodeCancel) },
			"http/2: the server has reset the stream with CANCEL"},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				p := newClient(t)
				p.WriteSettings(xhttp2.Setting{ID: xhttp2.SettingInitialWindowSize, Val: 1 << 20})
				p.flush()
				ended := make(chan struct{})
				got := p.open("POST", false, func(s *http2.Stream) string {
					_, err := s.Write(make([]byte, large), true)
					<-ended
					return fmt.Sprint(err)
				})
				p.flush()
				p.open("POST", false, func(s *http2.Stream) string {
					s.Write(make([]byte, 10<<10), true)
					return ""
				})
				p.flush()
				p.expect("SETTINGS ACK, HEADERS 1 GET http a /, DATA 1 16384, DATA 1 16384, DATA 1 16384, DATA 1 16383, " +
					"HEADERS 3 GET http a /")
				c.play(p)
				p.flush()
				p.WriteWindowUpdate(0, 1<<20)
				p.flush()
				p.expect("DATA 3 10240 END_STREAM, RST_STREAM 3 CANCEL")
				close(ended)
				if p.close(); *got != c.want {
					t.Errorf("%q, want %q", *got, c.want)
				}
			})
		})
	}
}

// TestOpenObeysTheStreamLimit opens streams up to the limit of the server and up to the end of the connection.
func TestOpenObeysTheStreamLimit(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := newClient(t)
		expect := func(when string, usable, unused bool) {
			t.Helper()
			if u, n := p.conn.Usable(); u != usable || n != unused {
				t.Errorf("%s: usable %v, unused %v", when, u, n)
			}
		}
		expect("without a stream", true, true)
		p.WriteSettings(xhttp2.Setting{ID: xhttp2.SettingMaxConcurrentStreams, Val: 2})
		p.flush()
		p.open("GET", true, readResponse)
		expect("with one stream", true, false)
		p.open("GET", true, readResponse)
		expect("with two streams", false, false)
		if s := p.conn.Open(http2.NewHead(), true, false); s != nil {
			t.Error("a third stream was opened")
		}
		p.head(1, true, ":status", "200")
		p.flush()
		expect("after a response", true, false)
		p.WriteGoAway(3, xhttp2.ErrCodeNo, nil)
		p.flush()
		expect("after GOAWAY", false, false)
		p.close()
	})
}

// The response of the stream has not ended.
func TestCancelResetsTheStream(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := newClient(t)
		p.open("GET", true, func(s *http2.Stream) string {
			s.ReadHead()
			s.Cancel()
			return ""
		})
		p.head(1, false, ":status", "200")
		p.flush()
		p.expect("HEADERS 1 GET http a / END_STREAM, RST_STREAM 1 CANCEL")
		p.close()
	})
}

// TestRetireEndsAfterTheStreams ends a connection after its streams.
func TestRetireEndsAfterTheStreams(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := newClient(t)
		got := p.open("GET", true, readResponse)
		p.conn.Retire()
		p.flush()
		p.expect("HEADERS 1 GET http a / END_STREAM, GOAWAY 0 NO_ERROR")
		p.head(1, true, ":status", "200")
		p.flush()
		p.expect("end")
		if p.close(); *got != `200 ""` {
			t.Error(*got)
		}
	})
}

// slack is how late a deadline may be, so that it need not be set for each read.
const slack = time.Second

// TestSilentServerIsGivenUp checks when a client sends PING, and when it gives up.
func TestSilentServerIsGivenUp(t *testing.T) {
	for _, responds := range []bool{false, true} {
		t.Run(fmt.Sprint("responds: ", responds), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				p := newClient(t)
				got := p.open("GET", true, readResponse)
				time.Sleep(pingAfter + slack - time.Nanosecond)
				p.flush()
				p.expect("HEADERS 1 GET http a / END_STREAM")
				time.Sleep(time.Nanosecond)
				p.flush()
				p.expect("PING")
				time.Sleep(pingTimeout - time.Nanosecond)
				if responds {
					p.WritePing(true, [8]byte{})
				}
				p.flush()
				p.expect("")
				if silent, want := p.conn.SilentFor(time.Now()), pingAfter+slack+pingTimeout-time.Nanosecond; !responds && silent != want {
					t.Errorf("silent for %v, want %v", silent, want)
				}
				time.Sleep(time.Nanosecond)
				if responds {
					p.head(1, true, ":status", "200")
					p.flush()
					p.expect("")
					p.close()
				} else {
					p.flush()
					p.expect("close")
					<-p.side.ended
				}
				p.side.running.Wait()
				if want := map[bool]string{true: `200 ""`, false: http2.ErrSilent.Error()}[responds]; *got != want {
					t.Errorf("%q, want %q", *got, want)
				}
			})
		})
	}
}

// TestConcurrentPingsShareAFrame checks that concurrent calls share a PING, and that any bytes are a response.
func TestConcurrentPingsShareAFrame(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := newClient(t)
		var got [3]error
		time.Sleep(time.Second)
		for i := range got {
			go func() { got[i] = p.conn.Ping(time.Duration(i+1) * time.Second) }()
		}
		time.Sleep(1500 * time.Millisecond)
		p.flush()
		p.expect("PING")
		p.WriteSettings()
		p.flush()
		p.expect("SETTINGS ACK")
		if want := [3]error{os.ErrDeadlineExceeded}; got != want {
			t.Errorf("%v, want %v", got, want)
		}
		go func() { got[0] = p.conn.Ping(time.Minute) }()
		synctest.Wait()
		p.close()
		synctest.Wait()
		if got[0] != http2.ErrClosed {
			t.Errorf("after the end of the connection: %v", got[0])
		}
	})
}

// The server sends nothing.
func TestAwaitUsableTimesOut(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := newPeer(t)
		p.conn = http2.NewClient(p.wire, transport.Goroutines, p.side)
		began := time.Now()
		if err := p.conn.AwaitUsable(time.Second); err != os.ErrDeadlineExceeded || time.Since(began) != time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		p.close()
	})
}

// TestAwaitUsableWaitsForAStream checks whether a stream can be opened when AwaitUsable returns, with several beginnings
// of a server.
func TestAwaitUsableWaitsForAStream(t *testing.T) {
	streams := func(n uint32) xhttp2.Setting {
		return xhttp2.Setting{ID: xhttp2.SettingMaxConcurrentStreams, Val: n}
	}
	for _, c := range []struct {
		name   string
		play   func(p *peer)
		want   error
		usable bool
	}{
		{"SETTINGS", func(p *peer) { p.WriteSettings() }, nil, true},
		{"no stream is allowed at first", func(p *peer) {
			p.WriteSettings(streams(0))
			p.flush()
			p.WriteSettings(streams(1))
		}, nil, true},
		{"no stream is allowed", func(p *peer) {
			p.WriteSettings(streams(0))
			p.flush()
			time.Sleep(time.Minute)
		}, os.ErrDeadlineExceeded, false},
		{"GOAWAY", func(p *peer) {
			p.WriteSettings()
			p.WriteGoAway(0, xhttp2.ErrCodeNo, nil)
		}, http2.ErrClosed, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				p := newPeer(t)
				p.conn = http2.NewClient(p.wire, transport.Goroutines, p.side)
				p.wire.out.Next(len(xhttp2.ClientPreface))
				result := make(chan error, 1)
				go func() {
					err := p.conn.AwaitUsable(time.Minute)
					if usable, _ := p.conn.Usable(); usable != c.usable {
						t.Errorf("usable: %v", usable)
					}
					result <- err
				}()
				c.play(p)
				p.flush()
				if err := <-result; err != c.want {
					t.Errorf("%v, want %v", err, c.want)
				}
				p.close()
			})
		})
	}
}
