package http2_test

import (
	"slices"
	"strings"
	"testing"

	xhttp2 "golang.org/x/net/http2"

	"github.com/weirhq/weir/internal/http2"
)

// The cases of section 5.
func TestStreamsConformToRFC9113(t *testing.T) {
	checkConformance(t, slices.Concat(idleCases, halfClosedCases, closedCases, identifierCases))
}

var idleCases = []conformanceCase{
	{"5.1 idle", "DATA", func(p *peer) { p.WriteData(1, true, []byte("a")) }, badFrame, http2.Protocol},
	{"5.1 idle", "RST_STREAM", func(p *peer) { p.WriteRSTStream(1, xhttp2.ErrCodeCancel) }, badFrame, http2.Protocol},
	{"5.1 idle", "WINDOW_UPDATE", func(p *peer) { p.WriteWindowUpdate(1, 1) }, badFrame, http2.Protocol},
	{"5.1 idle", "WINDOW_UPDATE of 0", func(p *peer) {
		p.WriteRawFrame(xhttp2.FrameWindowUpdate, 0, 1, make([]byte, 4))
	}, badFrame, http2.Protocol},
	{"5.1 idle", "CONTINUATION", func(p *peer) { p.WriteContinuation(1, true, p.fields(with("GET", "/")...)) }, badFrame,
		http2.Protocol},
	{"5.1 idle", "WINDOW_UPDATE of a stream that only a server opens", func(p *peer) { p.WriteWindowUpdate(2, 1) }, badFrame,
		http2.Protocol},
	{"5.1 idle", "PRIORITY of a higher stream opens nothing", func(p *peer) {
		p.WritePriority(9, xhttp2.PriorityParam{StreamDep: 1})
		p.get(1, "/")
	}, okay, ""},
}

// A stream is half-closed (remote) after the end of the request.
var halfClosedCases = []conformanceCase{
	{"5.1 half-closed", "WINDOW_UPDATE, PRIORITY", func(p *peer) {
		p.WriteSettings(xhttp2.Setting{ID: xhttp2.SettingInitialWindowSize, Val: 2})
		p.get(1, "/")
		p.WritePriority(1, xhttp2.PriorityParam{})
		p.flush()
		p.WriteWindowUpdate(1, 3)
	}, "SETTINGS ACK, HEADERS 1 200, DATA 1 he, DATA 1 llo END_STREAM", ""},
	{"5.1 half-closed", "RST_STREAM", func(p *peer) {
		p.get(1, "/hold")
		p.WriteRSTStream(1, xhttp2.ErrCodeCancel)
		p.WritePing(false, [8]byte{'a'})
	}, "PING ACK a", ""},
	{"5.1 half-closed", "DATA", func(p *peer) {
		p.get(1, "/hold")
		p.WriteData(1, true, []byte("a"))
	}, "RST_STREAM 1 STREAM_CLOSED", http2.ClosedStream},
	{"5.1 half-closed", "HEADERS", func(p *peer) {
		p.get(1, "/hold")
		p.get(1, "/hold")
	}, "RST_STREAM 1 STREAM_CLOSED", http2.ClosedStream},
	{"5.1 half-closed", "CONTINUATION", func(p *peer) {
		p.get(1, "/hold")
		p.WriteContinuation(1, true, nil)
	}, "GOAWAY 1 PROTOCOL_ERROR, end", http2.Protocol},
	{"5.1 half-closed", "the end of a response before the end of its request", func(p *peer) {
		p.post(1, "/early")
		p.flush()
		p.WriteData(1, true, []byte("late"))
		p.WriteWindowUpdate(1, 1)
	}, okay + ", RST_STREAM 1 NO_ERROR", ""},
}

var closedCases = []conformanceCase{
	{"5.1 closed by RST_STREAM", "DATA", func(p *peer) {
		p.post(1, "/hold")
		p.WriteRSTStream(1, xhttp2.ErrCodeCancel)
		p.WriteData(1, true, []byte("a"))
	}, "RST_STREAM 1 STREAM_CLOSED", http2.ClosedStream},
	{"5.1 closed by RST_STREAM", "HEADERS", func(p *peer) {
		p.post(1, "/hold")
		p.WriteRSTStream(1, xhttp2.ErrCodeCancel)
		p.get(1, "/")
	}, "GOAWAY 1 STREAM_CLOSED, end", http2.ClosedStream},
	{"5.1 closed by RST_STREAM", "CONTINUATION", func(p *peer) {
		p.post(1, "/hold")
		p.WriteRSTStream(1, xhttp2.ErrCodeCancel)
		p.WriteContinuation(1, true, nil)
	}, "GOAWAY 1 PROTOCOL_ERROR, end", http2.Protocol},
	{"5.1 closed by RST_STREAM", "RST_STREAM, WINDOW_UPDATE, PRIORITY", func(p *peer) {
		p.post(1, "/hold")
		p.WriteRSTStream(1, xhttp2.ErrCodeCancel)
		p.WriteRSTStream(1, xhttp2.ErrCodeCancel)
		p.WriteWindowUpdate(1, 1)
		p.WritePriority(1, xhttp2.PriorityParam{})
		p.WritePing(false, [8]byte{'a'})
	}, "PING ACK a", ""},
	{"5.1 closed", "DATA", func(p *peer) {
		p.get(1, "/")
		p.flush()
		p.WriteData(1, true, []byte("a"))
	}, okay + ", RST_STREAM 1 STREAM_CLOSED", http2.ClosedStream},
	{"5.1 closed", "HEADERS", func(p *peer) {
		p.get(1, "/")
		p.flush()
		p.get(1, "/")
	}, okay + ", GOAWAY 1 STREAM_CLOSED, end", http2.ClosedStream},
	{"5.1 closed", "CONTINUATION", func(p *peer) {
		p.get(1, "/")
		p.flush()
		p.WriteContinuation(1, true, nil)
	}, okay + ", GOAWAY 1 PROTOCOL_ERROR, end", http2.Protocol},
	{"5.1 closed", "PRIORITY", func(p *peer) {
		p.get(1, "/")
		p.flush()
		p.WritePriority(1, xhttp2.PriorityParam{})
	}, okay, ""},
	{"5.1 closed by the server", "frames that were on their way are ignored", func(p *peer) {
		p.post(1, "/early")
		p.flush()
		p.WriteData(1, false, []byte("a"))
		p.head(1, true, "x-sum", "1")
		p.WriteRSTStream(1, xhttp2.ErrCodeCancel)
		p.WritePing(false, [8]byte{'a'})
	}, okay + ", RST_STREAM 1 NO_ERROR, PING ACK a", ""},
	{"5.1 closed by the server", "a header block that was on its way changes the table", func(p *peer) {
		p.post(1, "/early")
		p.flush()
		p.head(1, true, "x-sum", "a value of the table")
		p.head(3, true, with("GET", "/", "x-sum", "a value of the table")...)
	}, okay + ", RST_STREAM 1 NO_ERROR, HEADERS 3 200, DATA 3 hello END_STREAM", ""},
}

var identifierCases = []conformanceCase{
	{"5.1.1", "an even stream", func(p *peer) { p.get(2, "/") }, badFrame, http2.Protocol},
	{"5.1.1", "a stream lower than another one", func(p *peer) {
		p.get(5, "/hold")
		p.get(3, "/hold")
	}, "GOAWAY 5 PROTOCOL_ERROR, end", http2.Protocol},
	{"5.1.1", "a stream that ended long ago", func(p *peer) {
		for i := range uint32(40) {
			p.head(2*i+1, true, with("HEAD", "/")...)
			p.flush() // the streams end in order
		}
		p.got = nil
		p.get(1, "/")
	}, "GOAWAY 79 PROTOCOL_ERROR, end", http2.Protocol},
	{"5.1.2", "a stream beyond MAX_CONCURRENT_STREAMS", func(p *peer) {
		for i := range uint32(http2.MaxStreams + 1) {
			p.get(2*i+1, "/hold")
		}
		p.flush()
		p.WriteRSTStream(1, xhttp2.ErrCodeCancel)
		p.flush() // its exchange ends
		p.get(2*http2.MaxStreams+3, "/")
	}, "RST_STREAM 501 REFUSED_STREAM, HEADERS 503 200, DATA 503 hello END_STREAM", http2.Refused},
	{"5.3.1", "HEADERS that depend on themselves", func(p *peer) {
		p.WriteHeaders(xhttp2.HeadersFrameParam{StreamID: 1, BlockFragment: p.fields(with("GET", "/")...), EndHeaders: true,
			EndStream: true, Priority: xhttp2.PriorityParam{StreamDep: 1}})
	}, "RST_STREAM 1 PROTOCOL_ERROR", http2.Protocol},
	{"5.3.1", "trailers that depend on themselves", func(p *peer) {
		p.post(1, "/hold")
		p.WriteHeaders(xhttp2.HeadersFrameParam{StreamID: 1, BlockFragment: p.fields("x-sum", "1"), EndHeaders: true,
			EndStream: true, Priority: xhttp2.PriorityParam{StreamDep: 1}})
	}, "RST_STREAM 1 PROTOCOL_ERROR", http2.Protocol},
	{"5.3.1", "PRIORITY that depends on itself", func(p *peer) {
		p.post(1, "/hold")
		p.WritePriority(1, xhttp2.PriorityParam{StreamDep: 1})
	}, "RST_STREAM 1 PROTOCOL_ERROR", http2.Protocol},
	{"5.3.1", "PRIORITY that depends on itself, of an idle stream", func(p *peer) {
		p.WritePriority(1, xhttp2.PriorityParam{StreamDep: 1})
	}, "RST_STREAM 1 PROTOCOL_ERROR", http2.Protocol},
	{"5.4.1", "frames after an error are discarded", func(p *peer) {
		p.WriteRawFrame(xhttp2.FramePing, 0, 0, nil)
		p.WritePing(false, [8]byte{'a'})
		p.get(1, "/")
	}, badSize, http2.FrameSize},
	{"5.4.2", "a stream error leaves other streams open", func(p *peer) {
		p.WriteSettings(xhttp2.Setting{ID: xhttp2.SettingInitialWindowSize, Val: 0})
		p.get(1, "/")
		p.get(3, "/hold")
		p.flush()
		p.WriteData(3, true, nil)
		p.WriteWindowUpdate(1, 5)
	}, "SETTINGS ACK, " + strings.Replace(okay, ",", ", RST_STREAM 3 STREAM_CLOSED,", 1), http2.ClosedStream},
	{"5.5", "an unknown frame within a header block", func(p *peer) {
		p.beginHead(1)
		p.WriteRawFrame(0x16, 0, 1, nil)
	}, "GOAWAY 1 PROTOCOL_ERROR, end", http2.Protocol},
}
