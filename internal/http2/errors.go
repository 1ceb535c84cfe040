package http2

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/net/http2"
)

// An Error is the reason why this side has ended a connection or a stream.
type Error struct {
	Code   http2.ErrCode // sent to the peer
	Reason Reason
	Detail string
}

func (e *Error) Error() string { return fmt.Sprintf("http/2: %s: %s", e.Reason, e.Detail) }

// A Reason is the kind of an [Error], for metrics.
type Reason string

const (
	Protocol      Reason = "protocol"       // a violation of RFC 9113 without a kind of its own
	Malformed     Reason = "malformed"      // a head that is not valid, RFC 9113 section 8.1.1
	Expectation   Reason = "expectation"    // an Expect other than 100-continue
	Trailers      Reason = "trailers"       // trailers that are not valid
	BodyLength    Reason = "body_length"    // a body that is longer or shorter than its content-length
	FrameSize     Reason = "frame_size"     // a frame that is too long or too short
	FlowControl   Reason = "flow_control"   // more data than the window, or a window that is too large
	Compression   Reason = "compression"    // a header block that cannot be decoded
	ClosedStream  Reason = "closed_stream"  // a frame on a stream that has ended
	Refused       Reason = "refused"        // more streams than allowed
	HeaderList    Reason = "header_list"    // a header list that is too long
	Continuations Reason = "continuations"  // too many frames for one header block
	Resets        Reason = "resets"         // too many streams that the peer resets or has reset
	Pings         Reason = "pings"          // too many PING frames
	SettingsFlood Reason = "settings"       // too many SETTINGS frames
	EmptyFrames   Reason = "empty_frames"   // too many DATA frames without data
	WindowUpdates Reason = "window_updates" // too many WINDOW_UPDATE frames
	OtherFrames   Reason = "other_frames"   // too many PRIORITY, GOAWAY or unknown frames
	Output        Reason = "output"         // too many responses to control frames that the peer does not read
	SlowHead      Reason = "slow_head"      // a frame or a header block that does not become complete in time
	SlowReader    Reason = "slow_reader"    // the peer has read nothing for the timeout of writes
)

// ErrReset is the error of a stream that the peer has reset.
var ErrReset = errors.New("http/2: the peer has reset the stream")

// ErrClosed is the error of a stream whose connection has ended, or that was closed.
var ErrClosed = errors.New("http/2: the connection has ended")

var (
	// ErrRefused is the error of a stream that the server has not processed and will not: the
	// request can be sent again, whatever its method (RFC 9113, section 8.7).
	ErrRefused = errors.New("http/2: the server has refused the stream")

	// ErrSilent is the error of the streams of a connection whose server does not respond to a
	// PING.
	ErrSilent = errors.New("http/2: the server does not respond to PING")
)

// A ResetError is the error of a stream that the server has reset.
type ResetError struct{ Code http2.ErrCode }

func (e *ResetError) Error() string {
	return "http/2: the server has reset the stream with " + e.Code.String()
}

func protocolError(detail string) *Error {
	return &Error{http2.ErrCodeProtocol, Protocol, detail}
}

func malformed(detail string) *Error {
	return &Error{http2.ErrCodeProtocol, Malformed, detail}
}

func badTrailers(detail string) *Error {
	return &Error{http2.ErrCodeProtocol, Trailers, detail}
}

func bodyLength(detail string) *Error {
	return &Error{http2.ErrCodeProtocol, BodyLength, detail}
}

func flood(r Reason) *Error {
	return &Error{http2.ErrCodeEnhanceYourCalm, r, "too many frames of this kind"}
}

// frameError returns the error of a frame that the Framer has rejected, and its stream, or 0
// for an error of the connection.
func frameError(err error) (e *Error, stream uint32) {
	var onStream http2.StreamError
	var onConn http2.ConnectionError
	code, detail := http2.ErrCodeProtocol, "a frame is not valid"
	switch {
	case errors.As(err, &onStream):
		code, stream = onStream.Code, onStream.StreamID
	case errors.As(err, &onConn):
		code = http2.ErrCode(onConn)
	}
	reason := Protocol
	switch code {
	case http2.ErrCodeFrameSize:
		reason = FrameSize
	case http2.ErrCodeFlowControl:
		reason = FlowControl
	}
	return &Error{code, reason, detail}, stream
}

func isTimeout(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }
