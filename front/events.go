package front

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/proxy"
)

// The events of a request, as docs/format.md has them.
const (
	eventReceived  = "http request received"
	eventProxying  = "proxying request"
	eventCompleted = "http request completed"
)

// eventRefused is of what never became a request.
const eventRefused = "http request refused"

// eventReloadFailed says that the configuration of before stays.
const eventReloadFailed = "configuration reload failed"

// An eventSet says which events a request writes.
type eventSet uint8

const (
	troubleOnly   eventSet = iota // the completed event, if its severity is WARN or worse
	completedOnly                 // the completed event
	allEvents                     // received, proxying and completed
)

// eventSet returns the set that a key of the configuration names. Where the
// level leaves out the first two events, the completed one has their data.
func (d *Door) eventSet(name string) eventSet {
	switch {
	case name == config.EventsNone:
		return troubleOnly
	case name == config.EventsCompleted || !d.log.Enabled(log.LevelInfo):
		return completedOnly
	}
	return allEvents
}

// describe fills in what the request itself says, for all its events.
func (x *exchange) describe(name string, port int) {
	h := &x.http
	h.Method = x.Method
	h.Scheme = x.Scheme
	h.Host, h.Port = name, port
	h.Path, h.Query = withoutUserinfo(x.path), x.query
}

// withoutUserinfo hides the user and password of a target that is not a path,
// which a request is refused for: CONNECT user:password@host:443.
func withoutUserinfo(path string) string {
	if at := strings.LastIndexByte(path, '@'); at >= 0 && path[0] != '/' {
		return "[redacted]" + path[at:]
	}
	return path
}

// logReceived says that a request came in.
func (d *Door) logReceived(x *exchange) {
	if x.events != allEvents {
		return
	}
	m := d.cost.event(&x.sampled)
	x.http.StartedAt = x.began
	d.log.Info(eventReceived).At(x.began).TraceID(x.trace.id).HTTP(&x.http).Send()
	x.http.StartedAt = time.Time{}
	m.endEvent()
}

// logProxying says where a request goes.
func (d *Door) logProxying(x *exchange) {
	if x.events != allEvents {
		return
	}
	m := d.cost.event(&x.sampled)
	x.announced = x.Server
	d.log.Info(eventProxying).TraceID(x.trace.id).HTTP(&x.http).
		Str("destination", x.Server.URL()).
		Str("proxy_name", x.route.upstream).
		Send()
	m.endEvent()
}

// logCompleted says what became of a request.
func (d *Door) logCompleted(x *exchange, ended time.Time) {
	level := x.level()
	if x.events == troubleOnly && level < log.LevelWarn {
		return
	}
	m := d.cost.event(&x.sampled)
	h := &x.http
	h.StatusCode = x.Status
	h.StartedAt, h.EndedAt = x.began, ended
	h.Duration = ended.Sub(x.began)
	h.ResponseContentLength = x.BodySent
	h.RequestContentLength = max(x.Length, x.BodyRead)
	h.Client = view(x.client.AppendTo(x.clientText[:0]))
	h.Protocol = protocol(x)
	h.UserAgent, h.Referer = x.caller()
	if x.route != nil {
		h.Route = x.route.pattern
	}
	e := d.log.Log(level, eventCompleted).At(ended).TraceID(x.trace.id).HTTP(h)
	if x.Server != x.announced || x.Retried {
		e.Str("destination", x.Server.URL()).Str("proxy_name", x.route.upstream)
	}
	if x.route != nil && x.route.redirect != nil {
		e.Str("redirect", x.route.redirect.To)
	}
	if x.refusal != "" {
		e.Str("refused", x.refusal)
	}
	if x.limit != "" {
		e.Str("limit", string(x.limit))
	}
	d.addHeaders(e, x)
	if failure := x.failure(); failure != nil {
		e.Str("failure", string(failure.Kind)).Bool("cut", x.Began && x.Cut).Err(failure)
	}
	e.Send()
	m.endEvent()
}

// level returns the severity that the outcome deserves. A failure of the
// upstream is an error. A client that left is not, nor is a response with status
// 5xx that the upstream sent whole. A refusal by a limit is no more than INFO,
// so that a flood of them is the first to be dropped when the log is full.
func (x *exchange) level() log.Level {
	switch {
	case x.Err == nil && x.Server != nil && x.Status >= 500:
		return log.LevelWarn
	case x.Err == nil:
		return log.LevelInfo
	case x.failure() == nil || x.failedByUpstream():
		return log.LevelError
	}
	return log.LevelWarn
}

// drained is the kind of failure that is the door's own doing: the drain's time
// was up.
const drained proxy.Kind = "drained"

// failure returns why the exchange failed, nil when it did not or panicked.
func (x *exchange) failure() *proxy.Error {
	failure, _ := x.Err.(*proxy.Error)
	return failure
}

// failedByUpstream tells whether the exchange is one that an upstream failed.
func (x *exchange) failedByUpstream() bool {
	failure := x.failure()
	return failure != nil && failure.ByUpstream() && failure.Kind != drained
}

// blameDrain says of an exchange that ended as if its client had left that the
// door has cut it.
func (x *exchange) blameDrain() {
	if failure := x.failure(); failure != nil && failure.Kind == proxy.ClientGone {
		x.Err = &proxy.Error{Kind: drained, Server: failure.Server, Step: failure.Step, Err: errDrained}
	}
}

var errDrained = errors.New("cut, since the time to drain was up")

func protocol(x *exchange) string {
	switch {
	case x.HTTP2:
		return "HTTP/2.0"
	case x.HTTP10:
		return "HTTP/1.0"
	}
	return "HTTP/1.1"
}

// caller returns what the client says of itself.
func (x *exchange) caller() (userAgent, referer string) {
	for i := range x.Header {
		switch f := &x.Header[i]; f.Name {
		case "User-Agent":
			userAgent = f.Value
		case "Referer":
			referer = f.Value
		}
	}
	return userAgent, referer
}

// A panicError is what somebody panicked with, and where.
type panicError struct {
	value any
	pcs   []uintptr
}

// newPanicError notes the stack of the panic that is being recovered from.
func newPanicError(value any) *panicError {
	pcs := make([]uintptr, 32)
	return &panicError{value: value, pcs: pcs[:runtime.Callers(4, pcs)]}
}

func (e *panicError) Error() string { return fmt.Sprint(e.value) }

// Callers implements log.Stacker.
func (e *panicError) Callers() []uintptr { return e.pcs }

var _ log.Stacker = (*panicError)(nil)
