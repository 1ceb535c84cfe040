package front

import (
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/weirhq/weir/internal/http2"
	"github.com/weirhq/weir/log"
)

// eventRefused is the event of a request that was refused before it was complete.
const eventRefused = "http request refused"

// refuse responds to bytes that are not the head of a request, and lingers. The caller
// then closes the connection.
func (c *clientConn) refuse(status int, reason string) {
	title := strconv.Itoa(status) + " " + http.StatusText(status)
	text := title + ": " + reason
	c.server.door.noteRefusal(c.peer, status, text)
	c.SetWriteDeadline(time.Now().Add(lingerTimeout))
	c.Write([]byte("HTTP/1.1 " + title + "\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n" + text))
	c.linger()
}

// limitBehind returns the limit that caused an error status before a request was
// complete, or "".
func limitBehind(status int) string {
	switch status {
	case 408:
		return limitHeaderTime
	case 431:
		return limitHeaders
	case manyConnections.Status:
		return limitPerClient
	}
	return ""
}

// noteRefusal counts and logs a request that is refused before it is complete.
func (d *Door) noteRefusal(client netip.Addr, status int, reason string) {
	d.metrics.refused.Inc()
	e := d.logger().Warn(eventRefused).
		HTTP(&log.HTTP{StatusCode: status, Client: client.String()}).
		Str("reason", reason)
	if broken := limitBehind(status); broken != "" {
		d.metrics.refusal(broken, allRoutes).Inc()
		e.Str("limit", broken)
	}
	e.Send()
}

// A streamError is why the door has ended a stream or a connection of HTTP/2 or HTTP/3, because of the client.
type streamError struct {
	errors               *prometheus.CounterVec // of the version
	event                string                 // of a connection that is ended
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
func (d *Door) noteStreamError(e *streamError) {
	of := "stream"
	if e.connection {
		of = "connection"
	}
	e.errors.WithLabelValues(of, e.reason).Inc()
	if status := refusals[e.reason]; status != 0 {
		d.noteRefusal(e.client, status, e.detail)
	} else if e.connection {
		d.logger().Warn(e.event).HTTP(&log.HTTP{Client: e.client.String()}).
			Str("reason", e.reason).Str("code", e.code).Str("detail", e.detail).Send()
	}
}
