package log

import (
	"strconv"
	"time"

	"github.com/weirhq/weir/log/internal/text"
)

// HTTP is what an event says about a request and its answer. Empty strings,
// zero numbers and unset times are left out, all but the status.
type HTTP struct {
	StatusCode int // 0 while the request is not answered
	Method     string
	Scheme     string
	Host       string
	Port       int
	Path       string
	Query      string // without the question mark
	StartedAt  time.Time
	EndedAt    time.Time
	Duration   time.Duration

	ResponseContentLength int64  // bytes
	Route                 string // the pattern that matched
	Client                string // the remote address
	Protocol              string // as in "HTTP/1.1"
	UserAgent             string
	Referer               string
	RequestContentLength  int64 // bytes
}

// HTTP adds what h says, in place of what was said before. The caller may
// reuse h at once; a nil h changes nothing.
func (e *Event) HTTP(h *HTTP) *Event {
	if e == nil || h == nil {
		return e
	}
	mark := e.open(partHTTP, "http")
	e.buf = e.appendHTTP(e.buf, h)
	e.settle(partHTTP, mark)
	return e
}

func (e *Event) appendHTTP(b []byte, h *HTTP) []byte {
	b = strconv.AppendInt(append(b, `{"status_code":`...), int64(h.StatusCode), 10)
	b = e.appendSetText(b, `,"method":`, h.Method)
	b = e.appendSetText(b, `,"scheme":`, h.Scheme)
	b = e.appendSetText(b, `,"host":`, h.Host)
	b = appendSetNumber(b, `,"port":`, int64(h.Port))
	b = e.appendSetText(b, `,"path":`, h.Path)
	b = e.appendSetText(b, `,"query":`, h.Query)
	b = e.appendSetInstant(b, `,"started_at":`, h.StartedAt)
	b = e.appendSetInstant(b, `,"ended_at":`, h.EndedAt)
	b = appendSetNumber(b, `,"duration":`, int64(h.Duration))
	b = appendSetNumber(b, `,"response_content_length":`, h.ResponseContentLength)
	b = e.appendSetText(b, `,"route":`, h.Route)
	b = e.appendSetText(b, `,"client":`, h.Client)
	b = e.appendSetText(b, `,"protocol":`, h.Protocol)
	b = e.appendSetText(b, `,"user_agent":`, h.UserAgent)
	b = e.appendSetText(b, `,"referer":`, h.Referer)
	b = appendSetNumber(b, `,"request_content_length":`, h.RequestContentLength)
	return append(b, '}')
}

// The three below append a key and its value when the value is set.

func (e *Event) appendSetText(b []byte, key, value string) []byte {
	if value == "" {
		return b
	}
	return text.AppendString(append(b, key...), clip(value, e.maxBytes))
}

func (e *Event) appendSetInstant(b []byte, key string, t time.Time) []byte {
	if t.IsZero() {
		return b
	}
	return e.appendInstant(append(b, key...), t)
}

func appendSetNumber(b []byte, key string, n int64) []byte {
	if n == 0 {
		return b
	}
	return strconv.AppendInt(append(b, key...), n, 10)
}
