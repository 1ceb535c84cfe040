package front

import (
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/weirhq/weir/internal/httpsyntax"
	"github.com/weirhq/weir/internal/proxying"
	"github.com/weirhq/weir/log"
)

// spans are the state of the spans of a request.
type spans struct {
	traced bool
	own    [spanIDLength]byte // the id of the request's span

	// Of the try in progress:
	server *proxying.Server // nil if there is none
	began  time.Time
	parent parentText // that the server gets; it has the id of the try's span
	tries  int        // that have begun, with this one
}

// reset prepares s for the next request.
func (s *spans) reset() { s.traced, s.server, s.tries = false, nil, 0 }

// id returns the id of the request's span, or "" if it is not traced.
func (s *spans) id() string {
	if !s.traced {
		return ""
	}
	return httpsyntax.View(s.own[:])
}

// beginTry begins the span of a try. While an exchange waits for any server to accept a connection, one span covers
// all its tries.
func (x *exchange) beginTry() {
	s := &x.spans
	if s.server != nil {
		s.server = x.Server
		return
	}
	before := s.parent
	if s.tries == 0 {
		copy(before[:], x.trace.parent)
	}
	s.parent = before
	appendSpanID(s.parent[:parentSpanAt])
	x.ReplaceSent(before[:], s.parent[:])
	s.server, s.began = x.Server, time.Now()
	s.tries++
}

// endTry writes the span of the try that has ended.
func (tr *tracer) endTry(x *exchange) {
	s := &x.spans
	server := s.server
	s.server = nil
	if server == nil || tr == nil { // a reload may have ended the traces
		return
	}
	url, _, _ := strings.Cut(server.URL(), "#")
	h := log.HTTP{Method: x.Method, StartedAt: s.began, EndedAt: time.Now(), StatusCode: x.ServerStatus(), Protocol: "HTTP/1.1"}
	if x.To.HTTP2 {
		h.Protocol = "HTTP/2.0"
	}
	h.Host, h.Port = hostOf(url)
	e := tr.log.Info(spanMethod(x.Method)).TraceID(x.trace.id).SpanID(httpsyntax.View(s.parent[parentSpanAt:parentFlagsAt-1])).
		HTTP(&h).Str("span_kind", "client").Str("parent_span_id", s.id()).Str("proxy_name", x.To.Name)
	if !strings.HasPrefix(url, "unix:") {
		e.URL("url.full", url+x.Target)
	}
	if s.tries > 1 {
		e.Int("http.request.resend_count", s.tries-1)
	}
	addErrorType(e, x.Failure(), h.StatusCode, 400)
	e.Send()
}

// end writes the span of a request that has ended.
func (tr *tracer) end(x *exchange, ended time.Time) {
	if tr == nil {
		return
	}
	tr.endTry(x) // one that has panicked
	x.describeEnd(ended)
	h := &x.http
	h.Encoded = nil // its text is that of the log
	failure, status := x.Failure(), x.Status
	if failure != nil && failure.Kind == proxying.ClientGone && !x.Began {
		h.StatusCode = 0 // 499 was not sent
	}
	e := tr.log.Info(spanName(x.Method, h.Route)).TraceID(x.trace.id).SpanID(x.spans.id()).HTTP(h).
		Str("span_kind", "server").Str("parent_span_id", x.trace.caller)
	x.addDecisions(e)
	addErrorType(e, failure, status, 500)
	e.Send()
}

// addErrorType adds the reason why a span has failed, if it has: a failure, or a status from the given one on.
func addErrorType(e log.Event, failure *proxying.Error, status, from int) {
	switch {
	case failure != nil:
		e.Str("error.type", string(failure.Kind)).Err(failure)
	case status >= from:
		e.Str("error.type", strconv.Itoa(status))
	}
}

// spanName returns the name of the span of a request: its method, and the pattern of its route without its methods.
func spanName(method, route string) string {
	name := spanMethod(method)
	if route == "" {
		return name
	}
	if methods, pattern, found := strings.Cut(route, " "); found && !strings.Contains(methods, "/") {
		route = pattern
	}
	return name + " " + route
}

// spanMethod returns a method as the name of a span has it. Clients may send any other.
func spanMethod(method string) string {
	switch method {
	case "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE", "QUERY":
		return method
	}
	return "HTTP"
}

// hostOf returns the host and the port of the URL of a server. The host of a Unix socket is its path.
func hostOf(url string) (host string, port int) {
	_, authority, found := strings.Cut(url, "://")
	if !found {
		return strings.TrimPrefix(url, "unix:"), 0
	}
	authority, _, _ = strings.Cut(authority, "/")
	host, text, _ := net.SplitHostPort(authority)
	port, _ = strconv.Atoi(text)
	return host, port
}
