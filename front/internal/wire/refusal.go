package wire

import (
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"github.com/weirhq/weir/internal/http1"
	"github.com/weirhq/weir/internal/http2"
	"github.com/weirhq/weir/log"
)

// eventRefused is the event of a request that was refused before it was complete.
const eventRefused = "http request refused"

// refuse responds with an error before there is a request, and lingers: the bytes are not a head or come without TLS,
// the head takes too long, or the client has too many connections. The caller then closes the connection.
func (c *clientConn) refuse(status int, reason string) {
	title := strconv.Itoa(status) + " " + http.StatusText(status)
	text := title + ": " + reason
	c.server.noteRefusal(c.peer, status, text)
	c.SetWriteDeadline(time.Now().Add(lingerTimeout))
	c.Write([]byte("HTTP/1.1 " + title + "\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n" + text))
	c.linger()
}

// limitBehind returns the limit that caused an error status before a request was
// complete, or "".
func limitBehind(status int) string {
	switch status {
	case 408:
		return LimitHeaderTime
	case 431:
		return LimitHeaders
	case manyConnections.Status:
		return LimitPerClient
	}
	return ""
}

// noteRefusal counts and logs a request that is refused before it is complete.
func (s *shared) noteRefusal(client netip.Addr, status int, reason string) {
	s.Counts.Refused()
	e := s.Log().Warn(eventRefused).
		HTTP(&log.HTTP{StatusCode: status, Client: client.String()}).
		Str("reason", reason)
	if broken := limitBehind(status); broken != "" {
		s.Counts.Limited(broken)
		e.Str("limit", broken)
	}
	e.Send()
}

// A streamError is why the server has ended a stream or a connection of HTTP/2 or HTTP/3, because of the client.
type streamError struct {
	count                func(of, reason string) // of the version of HTTP
	event                string                  // of a connection that is ended
	client               netip.Addr
	connection           bool // not only the stream
	reason, code, detail string
}

// refusals are the statuses of requests that are refused before they are complete, by the reasons of packages http2 and
// http3.
var refusals = map[string]int{
	string(http2.Malformed): 400, string(http2.Expectation): 417, string(http2.HeaderList): 431, string(http2.SlowHead): 408,
}

// noteStreamError counts and logs an error. A request that is refused before it is complete has the same event as over
// HTTP/1. Other errors of streams are in the completed event of their request.
func (s *shared) noteStreamError(e *streamError) {
	of := "stream"
	if e.connection {
		of = "connection"
	}
	e.count(of, e.reason)
	if status := refusals[e.reason]; status != 0 {
		s.noteRefusal(e.client, status, e.detail)
	} else if e.connection {
		s.Log().Warn(e.event).HTTP(&log.HTTP{Client: e.client.String()}).
			Str("reason", e.reason).Str("code", e.code).Str("detail", e.detail).Send()
	}
}

// manyConnections is the refusal of a client that has as many connections as it may, if a
// header names it. Others are rejected when their connection is accepted.
var manyConnections = &http1.Error{Status: 503, Reason: "the client has too many connections"}

// refuseHeader counts and logs a connection that is closed because of its header. The client
// gets no response: it may use any protocol.
func (c *clientConn) refuseHeader(why headerRefusal, err error) {
	s := c.server
	s.Counts.Header(string(why))
	s.Log().Warn(eventHeaderRefused).HTTP(&log.HTTP{Client: c.peer.String()}).Str("refused", string(why)).
		Err(err).Send()
}

// eventHeaderRefused is the event of a connection that is closed because of its header.
const eventHeaderRefused = "proxy protocol refused"
