package front

import (
	"net/http"
	"strconv"
	"time"

	"github.com/weirhq/weir/log"
)

// eventRefused is the event of a request that was refused before it was complete.
const eventRefused = "http request refused"

// refuse responds to bytes that are not the head of a request, and lingers. The caller
// then closes the connection.
func (c *clientConn) refuse(status int, reason string) {
	title := strconv.Itoa(status) + " " + http.StatusText(status)
	text := title + ": " + reason
	c.server.door.noteRefusal(c, status, text)
	c.SetWriteDeadline(time.Now().Add(lingerTimeout))
	c.Write([]byte("HTTP/1.1 " + title + "\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n" + text))
	c.linger()
}

// limitBehind returns the limit that caused an error status before a request was
// complete, or "".
func limitBehind(status int) limitName {
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
func (d *Door) noteRefusal(c *clientConn, status int, reason string) {
	d.metrics.refused.Inc()
	e := d.logger().Warn(eventRefused).
		HTTP(&log.HTTP{StatusCode: status, Client: c.peer.String()}).
		Str("reason", reason)
	if broken := limitBehind(status); broken != "" {
		d.metrics.refusal(broken, allRoutes).Inc()
		e.Str("limit", string(broken))
	}
	e.Send()
}
