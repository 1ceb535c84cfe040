package front

import (
	"bytes"
	"net"
	"strings"

	"github.com/weirhq/weir/log"
)

// eventRefused is the event of a request that was refused before it was complete.
const eventRefused = "http request refused"

// isRefusal reports whether p, a write to a client, is the beginning of a response
// with an error status.
func isRefusal(p []byte) bool {
	const version = "HTTP/1."
	return len(p) > 12 && (p[9] == '4' || p[9] == '5') && string(p[:len(version)]) == version
}

// answerTo returns the response to a head that is not passed on to net/http. Its
// format is that of net/http's own error responses.
func answerTo(why ambiguity) []byte {
	return []byte("HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n" +
		"400 Bad Request: " + string(why))
}

// answerTimeout is the response to a head that takes too long.
var answerTimeout = []byte("HTTP/1.1 408 Request Timeout\r\n" +
	"Content-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n" +
	"408 Request Timeout: the head of the request took too long")

// limitBehind returns the limit that caused an error status before a request was
// complete, or "".
func limitBehind(status int) limitName {
	switch status {
	case 408:
		return limitHeaderTime
	case 431:
		return limitHeaders
	}
	return ""
}

// noteRefusal counts and logs a request that is refused before it is complete. answer
// is the whole response.
func (d *Door) noteRefusal(c *clientConn, answer []byte) {
	d.metrics.refused.Inc()
	peer := c.RemoteAddr().(*net.TCPAddr).AddrPort().Addr().WithZone("").Unmap()
	e := d.log.Warn(eventRefused).
		HTTP(&log.HTTP{StatusCode: statusOf(answer), Client: peer.String()}).
		Str("reason", reasonOf(answer))
	if broken := limitBehind(statusOf(answer)); broken != "" {
		d.metrics.refusal(broken, allRoutes).Inc()
		e.Str("limit", string(broken))
	}
	e.Send()
}

func statusOf(answer []byte) int {
	return int(answer[9]-'0')*100 + int(answer[10]-'0')*10 + int(answer[11]-'0')
}

// reasonOf returns the body of a response or, if it is empty, the text of its status
// line.
func reasonOf(answer []byte) string {
	head, body, _ := bytes.Cut(answer, []byte("\r\n\r\n"))
	if len(body) > 0 {
		return string(body)
	}
	line, _, _ := strings.Cut(string(head), "\r\n")
	_, words, _ := strings.Cut(line, " ")
	return words
}
