package log

import (
	"time"

	"github.com/weirhq/weir/log/internal/ltsv"
	"github.com/weirhq/weir/log/internal/text"
)

// HTTP has the http fields of an event. Empty strings, zero numbers and zero
// times are left out, except for the status. Texts are written unchanged.
// Package httplog fills in an HTTP from a request.
type HTTP struct {
	StatusCode int // 0 before the response
	Method     string
	Scheme     string // "http" or "https"
	Host       string // without the port
	Port       int    // 0: the default port of the scheme
	Path       string // as sent by the client, still escaped
	Query      string // as sent by the client, without the question mark
	StartedAt  time.Time
	EndedAt    time.Time
	Duration   time.Duration

	ResponseContentLength int64  // bytes
	Route                 string // the pattern that matched
	Client                string // the remote address, without the port
	Protocol              string // such as "HTTP/1.1"
	UserAgent             string
	Referer               string
	RequestContentLength  int64 // bytes

	// Encoded keeps the text of Method, Scheme, Host, Port, Path and Query.
	// The next event with the same values copies it. It changes no line. Nil
	// keeps nothing.
	Encoded *EncodedHTTP
}

// An EncodedHTTP is the memory of [HTTP.Encoded], for code that writes several
// events for each request. The zero value is ready. It may serve one request
// after the other, and keeps no string of its user. Only one goroutine at a time
// may use it.
type EncodedHTTP struct {
	out   *output // its format and redaction determine the text
	of    target
	texts []byte // the memory of the strings in of
	text  []byte
}

// maxKeptTarget limits the memory of an EncodedHTTP to about six times as much.
const maxKeptTarget = 4 << 10

// A target has the fields that the events of one request share.
type target struct {
	method, scheme, host, path, query string
	port                              int
}

// addTarget appends the text of h's target, and keeps it in h.Encoded if it is
// new. In LTSV the method is apart.
func (e *openEvent) addTarget(h *HTTP) {
	c, from := h.Encoded, len(e.buf)
	switch {
	case c.out == e.out && c.of == h.target():
		e.buf = append(e.buf, c.text...)
		return
	case e.notation == notationLTSV:
		e.encodeLTSVTarget(h)
	default:
		e.encodeJSONTarget(h)
	}
	if h.textBytes() <= maxKeptTarget {
		c.keep(e.out, h.target(), e.buf[from:])
	}
}

func (h *HTTP) target() target { return target{h.Method, h.Scheme, h.Host, h.Path, h.Query, h.Port} }

// keep copies the target and its text. The strings of the target may be views of
// a buffer.
func (c *EncodedHTTP) keep(out *output, of target, encoded []byte) {
	c.out, c.of, c.text = out, of, append(c.text[:0], encoded...)
	c.texts = c.texts[:0]
	for _, s := range c.of.strings() {
		c.texts = append(c.texts, *s...)
	}
	rest := text.View(c.texts)
	for _, s := range c.of.strings() {
		*s, rest = rest[:len(*s)], rest[len(*s):]
	}
}

func (t *target) strings() [5]*string {
	return [...]*string{&t.method, &t.scheme, &t.host, &t.path, &t.query}
}

// HTTP sets the http fields, and replaces earlier ones. The caller may reuse h
// when HTTP returns. A nil h changes nothing.
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
	// Not a method of the encoder, because arguments of interface calls escape
	// to the heap.
	if e.notation == notationLTSV {
		e.addLTSVRequest(h)
	} else {
		e.addJSONRequest(h)
	}
	e.settle(partHTTP, mark)
}

// addJSONRequest appends the http object.
func (e *openEvent) addJSONRequest(h *HTTP) {
	text.PutLabeledInt(&e.buf, `,"http":{"status_code":`, int64(h.StatusCode))
	if h.Encoded != nil {
		e.addTarget(h)
	} else {
		e.encodeJSONTarget(h)
	}
	e.addTimes(h)
	e.addExtensions(h)
	e.buf = append(e.buf, '}')
}

func (e *openEvent) encodeJSONTarget(h *HTTP) {
	b := &e.buf
	if h.Method != "" {
		text.PutLabeled(b, `,"method":"`, h.Method)
	}
	if h.Scheme != "" {
		text.PutLabeled(b, `,"scheme":"`, h.Scheme)
	}
	if h.Host != "" {
		text.PutLabeled(b, `,"host":"`, h.Host)
	}
	if h.Port != 0 {
		text.PutLabeledInt(b, `,"port":`, int64(h.Port))
	}
	if h.Path != "" {
		text.PutLabeled(b, `,"path":"`, h.Path)
	}
	if h.Query != "" {
		e.addQuery(`,"query":"`, h.Query)
	}
}

// addTimes appends the fields known when the request has ended.
func (e *openEvent) addTimes(h *HTTP) {
	if !h.StartedAt.IsZero() {
		e.addInstant(`,"started_at":"`, h.StartedAt)
	}
	if !h.EndedAt.IsZero() {
		e.addInstant(`,"ended_at":"`, h.EndedAt)
	}
	if h.Duration != 0 {
		text.PutLabeledInt(&e.buf, `,"duration":`, int64(h.Duration))
	}
	if h.ResponseContentLength != 0 {
		text.PutLabeledInt(&e.buf, `,"response_content_length":`, h.ResponseContentLength)
	}
}

func (e *openEvent) addInstant(label string, t time.Time) {
	e.clock.Put(&e.buf, label, t)
	e.buf = append(e.buf, '"')
}

// addExtensions appends the keys that ONSdigital/log.go does not have.
func (e *openEvent) addExtensions(h *HTTP) {
	b := &e.buf
	if h.Route != "" {
		text.PutLabeled(b, `,"route":"`, h.Route)
	}
	if h.Client != "" {
		text.PutLabeled(b, `,"client":"`, h.Client)
	}
	if h.Protocol != "" {
		text.PutLabeled(b, `,"protocol":"`, h.Protocol)
	}
	if h.UserAgent != "" {
		text.PutLabeled(b, `,"user_agent":"`, h.UserAgent)
	}
	if h.Referer != "" {
		e.addURL(`,"referer":"`, h.Referer)
	}
	if h.RequestContentLength != 0 {
		text.PutLabeledInt(b, `,"request_content_length":`, h.RequestContentLength)
	}
}

// addLTSVRequest appends the labels of a request.
func (e *openEvent) addLTSVRequest(h *HTTP) {
	b := &e.buf
	if h.Client != "" {
		text.PutPair(b, "\thost:", h.Client)
	}
	if h.Method != "" {
		text.PutPair(b, "\tmethod:", h.Method)
	}
	if h.Protocol != "" {
		text.PutPair(b, "\tprotocol:", h.Protocol)
	}
	if h.Encoded != nil {
		e.addTarget(h)
	} else {
		e.encodeLTSVTarget(h)
	}
	e.addResponse(h)
}

func (e *openEvent) encodeLTSVTarget(h *HTTP) {
	b := &e.buf
	if h.Path != "" || h.Query != "" {
		text.PutPair(b, "\turi:", h.Path)
	}
	if h.Query != "" {
		e.addQuery("?", h.Query)
	}
	if h.Scheme != "" {
		text.PutPair(b, "\tscheme:", h.Scheme)
	}
	if h.Host != "" {
		text.PutPair(b, "\tvhost:", h.Host)
	}
	if h.Port != 0 {
		text.PutLabeledInt(b, "\tport:", int64(h.Port))
	}
}

// addResponse appends the labels from the status on. Access log tools ignore
// lines without a size, so a response always has one, even 0.
func (e *openEvent) addResponse(h *HTTP) {
	b := &e.buf
	text.PutLabeledInt(b, "\tstatus:", int64(h.StatusCode))
	if h.ResponseContentLength != 0 || h.StatusCode != 0 {
		text.PutLabeledInt(b, "\tsize:", h.ResponseContentLength)
	}
	if h.RequestContentLength != 0 {
		text.PutLabeledInt(b, "\treqsize:", h.RequestContentLength)
	}
	if h.Duration != 0 {
		e.buf = ltsv.AppendSeconds(append(e.buf, "\treqtime:"...), h.Duration)
	}
	if !h.StartedAt.IsZero() {
		e.buf = e.clock.AppendMicros(append(e.buf, "\tstarted_at:"...), h.StartedAt)
	}
	if !h.EndedAt.IsZero() {
		e.buf = e.clock.AppendMicros(append(e.buf, "\tended_at:"...), h.EndedAt)
	}
	if h.UserAgent != "" {
		text.PutPair(b, "\tua:", h.UserAgent)
	}
	if h.Referer != "" {
		e.addURL("\treferer:", h.Referer)
	}
	if h.Route != "" {
		text.PutPair(b, "\troute:", h.Route)
	}
}

// MarshalLog implements [Marshaler], for requests other than the event's own.
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

// addSetText, addSetNumber and addSetInstant add a field unless it is zero.

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

// textBytes returns the total length of all texts.
func (h *HTTP) textBytes() int {
	return len(h.Method) + len(h.Scheme) + len(h.Host) + len(h.Path) + len(h.Query) +
		len(h.Route) + len(h.Client) + len(h.Protocol) + len(h.UserAgent) + len(h.Referer)
}

// clipped returns a copy of h with no text longer than maxBytes. If redacting,
// it leaves the query and referer whole: they may fit once their secrets are
// replaced.
func (h *HTTP) clipped(maxBytes int, redacting bool) *HTTP {
	c := *h
	for _, text := range []*string{
		&c.Method, &c.Scheme, &c.Host, &c.Path, &c.Route, &c.Client, &c.Protocol, &c.UserAgent,
	} {
		*text = clip(*text, maxBytes)
	}
	if !redacting {
		c.Query, c.Referer = clip(c.Query, maxBytes), clip(c.Referer, maxBytes)
	}
	return &c
}
