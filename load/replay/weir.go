package replay

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"
)

// completed is the event of Weir at the end of a request.
const completed = "http request completed"

// A jsonLine has the keys of a line of Weir and of Caddy.
type jsonLine struct {
	Event     string
	HTTP      *weirHTTP
	Truncated []string

	TS       json.RawMessage // Caddy: a number of seconds, or a text
	Duration json.RawMessage // the same
	Request  *struct{ Method, Host, URI string }
}

// weirHTTP are the keys of an event of Weir.
type weirHTTP struct {
	Method, Host, Path, Query string
	Scheme                    string
	Port                      int
	Started                   time.Time `json:"started_at"`
}

// parseJSON reads a line of Weir or of Caddy.
func parseJSON(line []byte) (entry, error) {
	var l jsonLine
	if err := json.Unmarshal(line, &l); err != nil {
		return entry{}, fmt.Errorf("this is not JSON of weir or Caddy: %w", err)
	}
	switch {
	case l.Event == completed && l.HTTP != nil:
		return l.weir()
	case l.Request != nil && l.TS != nil:
		return l.caddy()
	}
	return entry{}, errOther // another event, or another message of Caddy
}

func (l *jsonLine) weir() (entry, error) {
	h := l.HTTP
	if slices.Contains(l.Truncated, "http.path") || slices.Contains(l.Truncated, "http.query") {
		return entry{}, errors.New("the logger has shortened the path or the query")
	}
	if h.Started.IsZero() {
		return entry{}, errors.New("the event has no http.started_at")
	}
	e := entry{began: h.Started, Request: Request{Method: h.Method, Host: withPort(h.Host, h.Scheme, h.Port), Target: h.Path}}
	if h.Query != "" {
		e.Target += "?" + h.Query
	}
	return e, nil
}

// withPort returns the value of the Host field.
func withPort(host, scheme string, port int) string {
	if host == "" || port == 0 || port == 80 && scheme != "https" || port == 443 && scheme == "https" {
		return host
	}
	if strings.Contains(host, ":") && !strings.HasPrefix(host, "[") {
		return net.JoinHostPort(host, strconv.Itoa(port))
	}
	return host + ":" + strconv.Itoa(port)
}

// caddy reads an access log of Caddy, which has the time at the end of the request.
func (l *jsonLine) caddy() (entry, error) {
	ended, err := caddyTime(l.TS)
	if err != nil {
		return entry{}, err
	}
	took, err := caddyDuration(l.Duration)
	if err != nil {
		return entry{}, err
	}
	r := l.Request
	return entry{began: ended.Add(-took), Request: Request{Method: r.Method, Host: r.Host, Target: r.URI}}, nil
}

// caddyTime reads the formats of Caddy's time_format that have one meaning.
func caddyTime(raw json.RawMessage) (time.Time, error) {
	var seconds float64
	if json.Unmarshal(raw, &seconds) == nil {
		for seconds > 1e11 { // milliseconds or nanoseconds
			seconds /= 1e3
		}
		return time.Unix(0, int64(seconds*1e9)), nil
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return time.Time{}, fmt.Errorf("ts is %.40s, which is not a time", raw)
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.000Z0700", "2006/01/02 15:04:05.000",
		"2006/01/02 15:04:05", combinedTime} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("ts is %.40q, which is none of Caddy's formats of a time with a date", text)
}

// caddyDuration reads the formats of Caddy's duration_format.
func caddyDuration(raw json.RawMessage) (time.Duration, error) {
	if raw == nil {
		return 0, nil
	}
	var seconds float64
	if json.Unmarshal(raw, &seconds) == nil {
		return time.Duration(seconds * 1e9), nil
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		if d, err := time.ParseDuration(text); err == nil {
			return d, nil
		}
	}
	return 0, fmt.Errorf("duration is %.40s, which is not a time", raw)
}
