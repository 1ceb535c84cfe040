package http2_test

import (
	"slices"
	"testing"

	xhttp2 "golang.org/x/net/http2"

	"github.com/weirhq/weir/internal/http2"
)

// A conformanceCase is a behaviour of a server that a section of a standard demands. h2spec has the same cases.
type conformanceCase struct {
	section, behaviour string
	play               func(p *peer) // what a client sends
	want               string        // what it receives
	reason             http2.Reason  // of the only failure; "" if there is none
}

func checkConformance(t *testing.T, cases []conformanceCase) {
	for _, c := range cases {
		t.Run(c.section+" "+c.behaviour, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				p := newServer(t)
				c.play(p)
				p.flush()
				p.expect(c.want)
				var want []http2.Reason
				if c.reason != "" {
					want = append(want, c.reason)
				}
				if got := p.close(); !slices.Equal(got, want) {
					t.Errorf("failed because of %q, want %q", got, want)
				}
			})
		})
	}
}

const (
	okay     = "HEADERS 1 200, DATA 1 hello END_STREAM"
	badFrame = "GOAWAY 0 PROTOCOL_ERROR, end" // before a stream was opened
	badSize  = "GOAWAY 0 FRAME_SIZE_ERROR, end"
)

// The cases of sections 3, 4 and 6.
func TestFramesConformToRFC9113(t *testing.T) {
	checkConformance(t, slices.Concat(formatCases, dataCases, headersCases, otherFrameCases, settingsCases, windowCases))
}

var formatCases = []conformanceCase{
	{"4.1", "a frame of an unknown type is ignored", func(p *peer) {
		p.WriteRawFrame(0x16, 0, 0, []byte("unknown"))
		p.WritePing(false, [8]byte{'a'})
	}, "PING ACK a", ""},
	{"4.1", "an undefined flag is ignored", func(p *peer) { p.WriteRawFrame(xhttp2.FramePing, 0x16, 0, []byte("undefine")) },
		"PING ACK undefine", ""},
	{"4.1", "the reserved bit of a stream is ignored", func(p *peer) {
		p.WriteRawFrame(xhttp2.FramePing, 0, 1<<31, []byte("reserved"))
	}, "PING ACK reserved", ""},
	{"4.2", "a frame may have 2^14 bytes", func(p *peer) {
		p.post(1, "/")
		p.WriteData(1, true, make([]byte, 1<<14))
	}, okay, ""},
	{"4.2", "DATA longer than the limit", func(p *peer) {
		p.post(1, "/hold")
		p.WriteData(1, true, make([]byte, 1<<14+1))
	}, "GOAWAY 1 FRAME_SIZE_ERROR, end", http2.FrameSize},
	{"4.2", "HEADERS longer than the limit", func(p *peer) { p.rawHead(1, true, make([]byte, 1<<14+1)) }, badSize,
		http2.FrameSize},
	{"4.3", "a header block that cannot be decoded", func(p *peer) { p.rawHead(1, true, []byte{0x40, 0xff}) },
		"GOAWAY 1 COMPRESSION_ERROR, end", http2.Compression},
	{"4.3", "PRIORITY within a header block", func(p *peer) {
		p.beginHead(1)
		p.WritePriority(1, xhttp2.PriorityParam{Weight: 255})
	}, "GOAWAY 1 PROTOCOL_ERROR, end", http2.Protocol},
	{"4.3", "HEADERS of another stream within a header block", func(p *peer) {
		p.beginHead(1)
		p.get(3, "/")
	}, "GOAWAY 1 PROTOCOL_ERROR, end", http2.Protocol},
}

var dataCases = []conformanceCase{
	{"6.1", "DATA is read as a body", func(p *peer) {
		p.post(1, "/")
		p.WriteData(1, true, []byte("a"))
	}, okay, ""},
	{"6.1", "several DATA frames are one body", func(p *peer) {
		p.post(1, "/")
		p.WriteData(1, false, []byte("a"))
		p.WriteData(1, false, []byte("b"))
		p.WriteData(1, true, nil)
	}, okay, ""},
	{"6.1", "padding is ignored", func(p *peer) {
		p.post(1, "/")
		p.WriteDataPadded(1, true, []byte("a"), make([]byte, 5))
	}, okay, ""},
	{"6.1", "DATA with no more than padding", func(p *peer) {
		p.post(1, "/")
		p.WriteDataPadded(1, true, nil, make([]byte, 255))
	}, okay, ""},
	{"6.1", "DATA without a stream", func(p *peer) {
		p.post(1, "/hold")
		p.WriteData(0, true, []byte("a"))
	}, "GOAWAY 1 PROTOCOL_ERROR, end", http2.Protocol},
	{"6.1", "padding as long as the frame", func(p *peer) {
		p.post(1, "/hold")
		p.WriteRawFrame(xhttp2.FrameData, xhttp2.FlagDataPadded, 1, []byte("\x05test"))
	}, "GOAWAY 1 PROTOCOL_ERROR, end", http2.Protocol},
	{"6.1", "padding without a length", func(p *peer) {
		p.post(1, "/hold")
		p.WriteRawFrame(xhttp2.FrameData, xhttp2.FlagDataPadded, 1, nil)
	}, "GOAWAY 1 FRAME_SIZE_ERROR, end", http2.FrameSize},
}

var headersCases = []conformanceCase{
	{"6.2", "HEADERS open a stream", func(p *peer) { p.get(1, "/") }, okay, ""},
	{"6.2", "padding is ignored", func(p *peer) {
		p.WriteHeaders(xhttp2.HeadersFrameParam{StreamID: 1, BlockFragment: p.fields(with("GET", "/")...), EndHeaders: true,
			EndStream: true, PadLength: 5})
	}, okay, ""},
	{"6.2", "a priority is ignored", func(p *peer) {
		p.WriteHeaders(xhttp2.HeadersFrameParam{StreamID: 1, BlockFragment: p.fields(with("GET", "/")...), EndHeaders: true,
			EndStream: true, Priority: xhttp2.PriorityParam{StreamDep: 3, Exclusive: true, Weight: 255}})
	}, okay, ""},
	{"6.2", "HEADERS without a stream", func(p *peer) { p.get(0, "/") }, badFrame, http2.Protocol},
	{"6.2", "padding longer than the frame", func(p *peer) {
		p.WriteRawFrame(xhttp2.FrameHeaders, xhttp2.FlagHeadersPadded|xhttp2.FlagHeadersEndHeaders, 1, []byte{9, 0x82})
	}, badFrame, http2.Protocol},
	{"6.2", "padding without a length", func(p *peer) {
		p.WriteRawFrame(xhttp2.FrameHeaders, xhttp2.FlagHeadersPadded, 1, nil)
	}, badSize, http2.FrameSize},
	{"6.2", "a priority that is too short", func(p *peer) {
		p.WriteRawFrame(xhttp2.FrameHeaders, xhttp2.FlagHeadersPriority, 1, make([]byte, 4))
	}, badSize, http2.FrameSize},
	{"6.10", "a header block in several frames", func(p *peer) {
		block := p.fields(with("GET", "/")...)
		p.WriteHeaders(xhttp2.HeadersFrameParam{StreamID: 1, EndStream: true, BlockFragment: block[:2]})
		p.WriteContinuation(1, false, block[2:3])
		p.WriteContinuation(1, false, nil)
		p.WriteContinuation(1, true, block[3:])
	}, okay, ""},
	{"6.10", "another frame before the end of a header block", func(p *peer) {
		p.beginHead(1)
		p.WriteContinuation(1, false, nil)
		p.WriteData(1, true, []byte("a"))
	}, "GOAWAY 1 PROTOCOL_ERROR, end", http2.Protocol},
	{"6.10", "CONTINUATION without a stream", func(p *peer) {
		p.beginHead(1)
		p.WriteContinuation(0, true, nil)
	}, "GOAWAY 1 PROTOCOL_ERROR, end", http2.Protocol},
	{"6.10", "CONTINUATION of another stream", func(p *peer) {
		p.beginHead(1)
		p.WriteContinuation(3, true, nil)
	}, "GOAWAY 1 PROTOCOL_ERROR, end", http2.Protocol},
	{"6.10", "CONTINUATION after the end of HEADERS", func(p *peer) {
		p.post(1, "/hold")
		p.WriteContinuation(1, true, nil)
	}, "GOAWAY 1 PROTOCOL_ERROR, end", http2.Protocol},
	{"6.10", "CONTINUATION after the end of CONTINUATION", func(p *peer) {
		p.WriteHeaders(xhttp2.HeadersFrameParam{StreamID: 1, BlockFragment: p.fields(with("POST", "/hold")...)})
		p.WriteContinuation(1, true, nil)
		p.WriteContinuation(1, true, nil)
	}, "GOAWAY 1 PROTOCOL_ERROR, end", http2.Protocol},
	{"6.10", "CONTINUATION after DATA", func(p *peer) {
		p.post(1, "/hold")
		p.WriteData(1, true, []byte("a"))
		p.WriteContinuation(1, true, nil)
	}, "GOAWAY 1 PROTOCOL_ERROR, end", http2.Protocol},
}

var otherFrameCases = []conformanceCase{
	{"6.3", "PRIORITY is ignored", func(p *peer) {
		p.WritePriority(1, xhttp2.PriorityParam{})
		p.WritePriority(1, xhttp2.PriorityParam{StreamDep: 3, Exclusive: true, Weight: 255})
		p.get(1, "/")
	}, okay, ""},
	{"6.3", "PRIORITY without a stream", func(p *peer) { p.WritePriority(0, xhttp2.PriorityParam{StreamDep: 1}) }, badFrame,
		http2.Protocol},
	{"6.3", "PRIORITY of another length than 5", func(p *peer) {
		p.post(1, "/hold")
		p.WriteRawFrame(xhttp2.FramePriority, 0, 1, make([]byte, 4))
	}, "GOAWAY 1 FRAME_SIZE_ERROR, end", http2.FrameSize}, // section 5.4.1 allows it instead of an error of the stream
	{"6.4", "RST_STREAM ends a stream", func(p *peer) {
		p.post(1, "/hold")
		p.WriteRSTStream(1, xhttp2.ErrCodeCancel)
		p.WritePing(false, [8]byte{'a'})
	}, "PING ACK a", ""},
	{"6.4", "RST_STREAM without a stream", func(p *peer) { p.WriteRSTStream(0, xhttp2.ErrCodeCancel) }, badFrame,
		http2.Protocol},
	{"6.4", "RST_STREAM of an idle stream", func(p *peer) { p.WriteRSTStream(1, xhttp2.ErrCodeCancel) }, badFrame,
		http2.Protocol},
	{"6.4", "RST_STREAM of another length than 4", func(p *peer) {
		p.post(1, "/hold")
		p.WriteRawFrame(xhttp2.FrameRSTStream, 0, 1, make([]byte, 3))
	}, "GOAWAY 1 FRAME_SIZE_ERROR, end", http2.FrameSize},
	{"6.6", "PUSH_PROMISE of a client", func(p *peer) {
		p.post(1, "/hold")
		p.WritePushPromise(xhttp2.PushPromiseParam{StreamID: 1, PromiseID: 3, EndHeaders: true})
	}, "GOAWAY 1 PROTOCOL_ERROR, end", http2.Protocol},
	{"6.7", "PING gets a response with the same data", func(p *peer) { p.WritePing(false, [8]byte{'h', '2'}) }, "PING ACK h2",
		""},
	{"6.7", "PING with ACK gets no response", func(p *peer) { p.WritePing(true, [8]byte{'h', '2'}) }, "", ""},
	{"6.7", "PING with a stream", func(p *peer) { p.WriteRawFrame(xhttp2.FramePing, 0, 1, make([]byte, 8)) }, badFrame,
		http2.Protocol},
	{"6.7", "PING of another length than 8", func(p *peer) { p.WriteRawFrame(xhttp2.FramePing, 0, 0, make([]byte, 6)) },
		badSize, http2.FrameSize},
	{"6.8", "GOAWAY of a client has no effect", func(p *peer) {
		p.WriteGoAway(0, xhttp2.ErrCodeNo, nil)
		p.get(1, "/")
	}, okay, ""},
	{"6.8", "GOAWAY with a stream", func(p *peer) { p.WriteRawFrame(xhttp2.FrameGoAway, 0, 1, make([]byte, 8)) }, badFrame,
		http2.Protocol},
	{"6.8", "GOAWAY that is too short", func(p *peer) { p.WriteRawFrame(xhttp2.FrameGoAway, 0, 0, make([]byte, 7)) },
		badSize, http2.FrameSize},
	{"7", "GOAWAY with an unknown code", func(p *peer) {
		p.WriteGoAway(0, 0xff, nil)
		p.WritePing(false, [8]byte{'a'})
	}, "PING ACK a", ""},
	{"7", "RST_STREAM with an unknown code", func(p *peer) {
		p.post(1, "/hold")
		p.WriteRSTStream(1, 0xff)
		p.WritePing(false, [8]byte{'a'})
	}, "PING ACK a", ""},
}

var settingsCases = []conformanceCase{
	{"6.5", "SETTINGS with ACK and a payload", func(p *peer) {
		p.WriteRawFrame(xhttp2.FrameSettings, xhttp2.FlagSettingsAck, 0, make([]byte, 6))
	}, badSize, http2.FrameSize},
	{"6.5", "SETTINGS with a stream", func(p *peer) { p.WriteRawFrame(xhttp2.FrameSettings, 0, 1, make([]byte, 6)) }, badFrame,
		http2.Protocol},
	{"6.5", "SETTINGS whose length is no multiple of 6", func(p *peer) {
		p.WriteRawFrame(xhttp2.FrameSettings, 0, 0, make([]byte, 3))
	}, badSize, http2.FrameSize},
	{"6.5.2", "ENABLE_PUSH other than 0 or 1", func(p *peer) {
		p.WriteSettings(xhttp2.Setting{ID: xhttp2.SettingEnablePush, Val: 2})
	}, badFrame, http2.Protocol},
	{"6.5.2", "INITIAL_WINDOW_SIZE above 2^31-1", func(p *peer) {
		p.WriteSettings(xhttp2.Setting{ID: xhttp2.SettingInitialWindowSize, Val: 1 << 31})
	}, "GOAWAY 0 FLOW_CONTROL_ERROR, end", http2.FlowControl},
	{"6.5.2", "MAX_FRAME_SIZE below 2^14", func(p *peer) {
		p.WriteSettings(xhttp2.Setting{ID: xhttp2.SettingMaxFrameSize, Val: 1<<14 - 1})
	}, badFrame, http2.Protocol},
	{"6.5.2", "MAX_FRAME_SIZE above 2^24-1", func(p *peer) {
		p.WriteSettings(xhttp2.Setting{ID: xhttp2.SettingMaxFrameSize, Val: 1 << 24})
	}, badFrame, http2.Protocol},
	{"6.5.2", "an unknown setting is ignored", func(p *peer) {
		p.WriteSettings(xhttp2.Setting{ID: 0xff, Val: 1})
	}, "SETTINGS ACK", ""},
	{"6.5.3", "the last value of a setting counts", func(p *peer) {
		p.WriteSettings(xhttp2.Setting{ID: xhttp2.SettingInitialWindowSize, Val: 100},
			xhttp2.Setting{ID: xhttp2.SettingInitialWindowSize, Val: 1})
		p.get(1, "/")
	}, "SETTINGS ACK, HEADERS 1 200, DATA 1 h", ""},
	{"6.5.3", "SETTINGS are acknowledged", func(p *peer) { p.WriteSettings() }, "SETTINGS ACK", ""},
	{"6.5.3", "SETTINGS with ACK are not", func(p *peer) { p.WriteSettingsAck() }, "", ""},
}

var windowCases = []conformanceCase{
	{"6.9", "an increment of 0 for the connection", func(p *peer) {
		p.WriteRawFrame(xhttp2.FrameWindowUpdate, 0, 0, make([]byte, 4))
	}, badFrame, http2.Protocol},
	{"6.9", "an increment of 0 for a stream", func(p *peer) {
		p.post(1, "/hold")
		p.WriteRawFrame(xhttp2.FrameWindowUpdate, 0, 1, make([]byte, 4))
	}, "RST_STREAM 1 PROTOCOL_ERROR", http2.Protocol},
	{"6.9", "an increment of 0 for a stream that has ended", func(p *peer) {
		p.get(1, "/")
		p.flush()
		p.WriteRawFrame(xhttp2.FrameWindowUpdate, 0, 1, make([]byte, 4))
	}, okay, ""},
	{"6.9", "WINDOW_UPDATE of another length than 4", func(p *peer) {
		p.WriteRawFrame(xhttp2.FrameWindowUpdate, 0, 0, make([]byte, 3))
	}, badSize, http2.FrameSize},
	{"6.9", "WINDOW_UPDATE of a stream that has ended is ignored", func(p *peer) {
		p.get(1, "/")
		p.flush()
		p.WriteWindowUpdate(1, 100)
	}, okay, ""},
	{"6.9.1", "no more data is sent than the window of a stream has", func(p *peer) {
		p.WriteSettings(xhttp2.Setting{ID: xhttp2.SettingInitialWindowSize, Val: 1})
		p.get(1, "/")
		p.flush()
		p.WriteWindowUpdate(1, 2)
		p.flush()
		p.WriteWindowUpdate(1, 100)
	}, "SETTINGS ACK, HEADERS 1 200, DATA 1 h, DATA 1 el, DATA 1 lo END_STREAM", ""},
	{"6.9.1", "no more data is sent than the window of the connection has", func(p *peer) {
		p.WriteSettings(xhttp2.Setting{ID: xhttp2.SettingInitialWindowSize, Val: 1 << 20})
		p.get(1, "/large")
		p.flush()
		p.WriteWindowUpdate(0, 3)
	}, "SETTINGS ACK, HEADERS 1 200, DATA 1 16384, DATA 1 16384, DATA 1 16384, DATA 1 16383, DATA 1 aaa", ""},
	{"6.9.1", "a window of the connection above 2^31-1", func(p *peer) {
		p.WriteWindowUpdate(0, 1<<31-1)
	}, "GOAWAY 0 FLOW_CONTROL_ERROR, end", http2.FlowControl},
	{"6.9.1", "a window of a stream above 2^31-1", func(p *peer) {
		p.post(1, "/hold")
		p.WriteWindowUpdate(1, 1<<31-1)
	}, "RST_STREAM 1 FLOW_CONTROL_ERROR", http2.FlowControl},
	{"6.9.1", "windows of 2^31-1", func(p *peer) {
		p.WriteWindowUpdate(0, 1<<31-1-65535)
		p.post(1, "/")
		p.WriteWindowUpdate(1, 1<<31-1-65535)
		p.WriteData(1, true, nil)
	}, okay, ""},
	{"6.9.1", "data beyond the window of a stream", func(p *peer) {
		p.post(1, "/hold")
		p.data(1, 65535)
		p.WriteData(1, false, []byte("a"))
	}, "RST_STREAM 1 FLOW_CONTROL_ERROR", http2.FlowControl},
	{"6.9.2", "a changed initial window applies to open streams", func(p *peer) {
		p.WriteSettings(xhttp2.Setting{ID: xhttp2.SettingInitialWindowSize, Val: 0})
		p.get(1, "/")
		p.flush()
		p.WriteSettings(xhttp2.Setting{ID: xhttp2.SettingInitialWindowSize, Val: 1})
	}, "SETTINGS ACK, HEADERS 1 200, SETTINGS ACK, DATA 1 h", ""},
	{"6.9.2", "a window may become negative", func(p *peer) {
		p.WriteSettings(xhttp2.Setting{ID: xhttp2.SettingInitialWindowSize, Val: 3})
		p.get(1, "/")
		p.flush()
		p.WriteSettings(xhttp2.Setting{ID: xhttp2.SettingInitialWindowSize, Val: 2})
		p.flush()
		p.WriteWindowUpdate(1, 1)
		p.flush()
		p.WriteWindowUpdate(1, 1)
	}, "SETTINGS ACK, HEADERS 1 200, DATA 1 hel, SETTINGS ACK, DATA 1 l", ""},
	{"6.9.2", "an initial window that makes a window larger than 2^31-1", func(p *peer) {
		p.post(1, "/hold")
		p.WriteWindowUpdate(1, 1)
		p.WriteSettings(xhttp2.Setting{ID: xhttp2.SettingInitialWindowSize, Val: 1<<31 - 1})
	}, "GOAWAY 1 FLOW_CONTROL_ERROR, end", http2.FlowControl},
}
