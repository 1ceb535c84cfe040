package log

import "time"

// HTTP is what an event says about a request and its answer. Empty strings,
// zero numbers and unset times are left out, all but the status. Texts are
// written as they are: package httplog fills one in from a request.
type HTTP struct {
	StatusCode int // 0 while the request is not answered
	Method     string
	Scheme     string // "http" or "https"
	Host       string // without the port
	Port       int    // 0: that of the scheme
	Path       string // as the client sent it, still escaped
	Query      string // the same, without the question mark
	StartedAt  time.Time
	EndedAt    time.Time
	Duration   time.Duration

	ResponseContentLength int64  // bytes
	Route                 string // the pattern that matched
	Client                string // the remote address, without the port
	Protocol              string // as in "HTTP/1.1"
	UserAgent             string
	Referer               string
	RequestContentLength  int64 // bytes
}

// HTTP adds what h says, in place of what was said before. The caller may
// reuse h at once; a nil h changes nothing.
func (e Event) HTTP(h *HTTP) Event {
	if e.isOpen() {
		e.open.http(h)
	}
	return e
}

func (e *openEvent) http(h *HTTP) {
	switch {
	case h == nil:
		return
	case e.depth > 0:
		e.object("http", h.MarshalLog)
		return
	}
	if h.textBytes() > e.maxBytes {
		h = h.clipped(e.maxBytes, e.out.redact != nil)
	}
	mark := e.open(partHTTP)
	// Not by way of the encoder: what is passed through an interface escapes.
	if e.notation == notationLTSV {
		e.addLTSVRequest(h)
	} else {
		e.addJSONRequest(h)
	}
	e.settle(partHTTP, mark)
}

// MarshalLog implements [Marshaler], for requests that are not the event's
// own.
func (h *HTTP) MarshalLog(e Event) error {
	if e.isOpen() {
		e.open.addHTTP(h)
	}
	return nil
}

func (e *openEvent) addHTTP(h *HTTP) {
	e.int64("status_code", int64(h.StatusCode))
	e.addSetText("method", h.Method)
	e.addSetText("scheme", h.Scheme)
	e.addSetText("host", h.Host)
	e.addSetNumber("port", int64(h.Port))
	e.addSetText("path", h.Path)
	if h.Query != "" && e.key("query") {
		e.quote()
		e.addQuery("", clip(h.Query, e.maxBytes))
	}
	e.addSetInstant("started_at", h.StartedAt)
	e.addSetInstant("ended_at", h.EndedAt)
	e.addSetNumber("duration", int64(h.Duration))
	e.addSetNumber("response_content_length", h.ResponseContentLength)
	e.addSetText("route", h.Route)
	e.addSetText("client", h.Client)
	e.addSetText("protocol", h.Protocol)
	e.addSetText("user_agent", h.UserAgent)
	if h.Referer != "" {
		e.url("referer", h.Referer)
	}
	e.addSetNumber("request_content_length", h.RequestContentLength)
}

// The three below add a field when it is set.

func (e *openEvent) addSetText(key, value string) {
	if value != "" {
		e.str(key, value)
	}
}

func (e *openEvent) addSetNumber(key string, value int64) {
	if value != 0 {
		e.int64(key, value)
	}
}

func (e *openEvent) addSetInstant(key string, value time.Time) {
	if !value.IsZero() {
		e.time(key, value)
	}
}

// textBytes returns how long all the texts are together.
func (h *HTTP) textBytes() int {
	return len(h.Method) + len(h.Scheme) + len(h.Host) + len(h.Path) + len(h.Query) +
		len(h.Route) + len(h.Client) + len(h.Protocol) + len(h.UserAgent) + len(h.Referer)
}

// clipped returns a copy of h in which no text is longer than maxBytes, but
// those from which secrets are still to be taken: what is left of them may fit.
func (h *HTTP) clipped(maxBytes int, redacting bool) *HTTP {
	c := *h
	for _, text := range []*string{&c.Method, &c.Scheme, &c.Host, &c.Path, &c.Route, &c.Client, &c.Protocol, &c.UserAgent} {
		*text = clip(*text, maxBytes)
	}
	if !redacting {
		c.Query, c.Referer = clip(c.Query, maxBytes), clip(c.Referer, maxBytes)
	}
	return &c
}
