package front

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/internal/logcost"
	"github.com/weirhq/weir/front/internal/recent"
	"github.com/weirhq/weir/front/stage"
	"github.com/weirhq/weir/internal/httpsyntax"
	"github.com/weirhq/weir/internal/proxying"
	"github.com/weirhq/weir/log"
)

// The events of a request, as documented in docs/format.md.
const (
	eventReceived  = "http request received"
	eventProxying  = "proxying request"
	eventCompleted = "http request completed"
)

// requestEvents writes the events of requests. Goroutines may share it.
type requestEvents struct {
	log      *log.Logger
	cost     *logcost.Cost
	headers  loggedHeaders // of requests without a route
	interest interest
	failures *recent.Failures
	failed   *log.Logger // of completed events, to failures
}

// eventParts are shared by the events of all configurations.
type eventParts struct {
	cost     *logcost.Cost
	held     *heldEvents
	failures *recent.Failures
	tap      *recent.Tap
}

// newRequestEvents returns the events of a configuration. They are written to w.
func newRequestEvents(cfg *config.Config, w io.Writer, parts eventParts) (e requestEvents, err error) {
	o, err := logOptions(cfg)
	if err != nil {
		return e, err
	}
	if events, ok := w.(log.EventWriter); ok { // as all outputs of this project are
		w = parts.tap.Writer(events)
	}
	kept := log.Options{Namespace: o.Namespace, Redact: o.Redact, MaxEventBytes: recent.MaxEventBytes}
	return requestEvents{
		log: log.New(w, o), cost: parts.cost,
		headers:  loggedHeaders{cfg.Log.RequestFields, cfg.Log.ResponseFields},
		interest: newInterest(cfg, parts.held),
		failures: parts.failures, failed: log.New(parts.failures, kept),
	}, nil
}

// logOptions returns the options of all events of a configuration.
func logOptions(cfg *config.Config) (o log.Options, err error) {
	o = log.Options{Namespace: cfg.Namespace, Redact: cfg.Secrets()}
	if o.Level, err = log.ParseLevel(cfg.Log.Level); err != nil {
		return o, fmt.Errorf("log.level: %w", err)
	}
	if o.Format, err = log.ParseFormat(cfg.Log.Format); err != nil {
		return o, fmt.Errorf("log.format: %w", err)
	}
	return o, nil
}

// set returns the events that a value of log.events selects. If the level omits
// the first two events, the completed event has their data.
func (e *requestEvents) set(name string) eventSet {
	switch {
	case name == config.EventsOff:
		return troubleOnly
	case name == config.EventsCompleted || !e.log.Enabled(log.LevelInfo):
		return completedOnly
	case name == config.EventsInteresting:
		return interestingOnly
	}
	return allEvents
}

// received writes or holds the event of a request that has arrived.
func (e *requestEvents) received(x *exchange) {
	switch x.events {
	case allEvents:
		e.writeReceived(x)
	case interestingOnly:
		e.interest.hold(x)
	}
}

func (e *requestEvents) writeReceived(x *exchange) {
	m := e.cost.Event(&x.sampled)
	x.http.StartedAt, x.http.Encoded = x.Arrived, &x.encoded
	e.log.Info(eventReceived).At(x.Arrived).TraceID(x.trace.id).SpanID(x.spans.id()).HTTP(&x.http).Send()
	x.http.StartedAt = time.Time{}
	m.EndEvent()
}

// proxying writes or holds the event of a request that is about to be sent to a server.
func (e *requestEvents) proxying(x *exchange) {
	switch x.events {
	case allEvents:
		x.announced = x.Server
		e.writeProxying(x, x.Chosen)
	case interestingOnly:
		x.announced, x.announcedAt = x.Server, x.Chosen
		e.interest.hold(x)
	}
}

// writeProxying writes the event of the server x.announced, which was chosen at the given time.
func (e *requestEvents) writeProxying(x *exchange, chosen time.Time) {
	m := e.cost.Event(&x.sampled)
	e.log.Info(eventProxying).At(chosen).TraceID(x.trace.id).SpanID(x.spans.id()).HTTP(&x.http).
		Str("destination", x.announced.URL()).
		Str("proxy_name", x.To.Name).
		Send()
	m.EndEvent()
}

// writeHeld writes the events that a request has held.
func (e *requestEvents) writeHeld(x *exchange) {
	e.writeReceived(x)
	if x.announced != nil {
		e.writeProxying(x, x.announcedAt)
	}
}

// completed writes the event of a request that has ended, after the events that it has held. The event of a failed
// request is kept for the dashboard, too.
func (e *requestEvents) completed(x *exchange, ended time.Time) {
	level := x.level()
	kept := x.failed() && e.failures.Admit(ended)
	written := x.events != troubleOnly || level >= log.LevelWarn
	if !kept && !written {
		return
	}
	if x.held > 0 {
		e.decide(x, level, ended)
	}
	x.describeEnd(ended)
	if written {
		m := e.cost.Event(&x.sampled)
		e.addEnd(e.log.Log(level, eventCompleted), x, ended)
		m.EndEvent()
	}
	if kept {
		x.announced, x.http.Encoded = nil, nil // it also has the values of the other events; its format differs
		e.addEnd(e.failed.Log(level, eventCompleted), x, ended)
	}
}

// failed reports whether a request belongs to the recent failures. A refusal by a limit does not: a flood of them would
// hide all others, and metrics count them by limit and route.
func (x *exchange) failed() bool {
	return (x.Status >= 500 || x.Err != nil) && (x.Limit == "" || x.Server != nil)
}

// decide writes or discards the events that a request has held.
func (e *requestEvents) decide(x *exchange, level log.Level, ended time.Time) {
	if e.interest.release(x, level, ended.Sub(x.Arrived)) {
		e.writeHeld(x)
	} else {
		x.announced = nil // the completed event names the server
	}
}

// addEnd sends a completed event with its data.
func (e *requestEvents) addEnd(event log.Event, x *exchange, ended time.Time) {
	event = event.At(ended).TraceID(x.trace.id).SpanID(x.spans.id()).HTTP(&x.http)
	x.addUpstream(event)
	x.addDecisions(event)
	headers := &e.headers
	if x.route != nil && x.route.logHeaders != nil {
		headers = x.route.logHeaders
	}
	addFields(event, "request_headers", headers.request, x.Header)
	addFields(event, "response_headers", headers.response, x.sentFields())
	if x.route != nil && x.route.logFields != nil {
		x.addLogFields(event)
	}
	if failure := x.Failure(); failure != nil {
		event.Str("failure", string(failure.Kind)).Bool("cut", x.Began && x.Cut).Err(failure)
	}
	event.Send()
}

// addUpstream adds what the events before have not said about the upstream: the server, and what was
// sent to it.
func (x *exchange) addUpstream(event log.Event) {
	if x.Server != x.announced || x.Retried != "" {
		event.Str("destination", x.Server.URL()).Str("proxy_name", x.To.Name)
	}
	if x.Retried != "" {
		event.Str("retried", string(x.Retried))
	}
	if x.RetryDenied != "" {
		event.Str("retry_denied", string(x.RetryDenied))
	}
	if x.Rewritten && x.Server != nil {
		if path, _, _ := strings.Cut(x.Target, "?"); path != x.Path {
			event.Str("upstream_path", path)
		}
	}
}

// addDecisions adds what the front door has decided: a redirect, who the client is, a refusal, and a limit.
func (x *exchange) addDecisions(event log.Event) {
	if x.Redirect != "" {
		event.Str("redirect", x.Redirect)
	}
	if x.User != "" {
		event.Str("user", x.User)
	}
	if x.wire.TLS != nil && x.wire.TLS.Subject != "" {
		event.Str("client_subject", x.wire.TLS.Subject)
	}
	if x.Refusal != "" {
		event.Str("refused", x.Refusal)
	}
	if x.Limit != "" {
		event.Str("limit", string(x.Limit))
	}
	if x.limitedBy != "" {
		event.Str("group", x.limitedBy)
	}
}

// sentFields returns the fields of the final response that the client got, or nil.
func (x *exchange) sentFields() []proxying.Field {
	if x.Upgraded {
		return x.ResponseHeader()
	}
	return x.wire.Pacer.SentFields()
}

// describe sets the data of the request that all its events have.
func (x *exchange) describe(host string, port int) {
	h := &x.http
	h.Method = x.Method
	h.Scheme = x.Scheme
	h.Host, h.Port = host, port
	x.Hostname = host
	h.Path, h.Query = withoutUserinfo(x.Path), x.Query
}

// describeEnd sets the data of a request that has ended, unless they are set: a completed event and a span both have
// them.
func (x *exchange) describeEnd(ended time.Time) {
	h := &x.http
	if !h.EndedAt.IsZero() {
		return
	}
	h.StatusCode = x.Status
	h.StartedAt, h.EndedAt = x.Arrived, ended
	h.Duration = ended.Sub(x.Arrived)
	h.ResponseContentLength = x.BodySent
	h.RequestContentLength = max(x.Length, x.BodyRead)
	h.Client = httpsyntax.View(x.ClientAddr.AppendTo(x.clientText[:0]))
	h.Protocol = protocol(x)
	h.UserAgent, h.Referer = x.userAgentAndReferer()
	if x.route != nil {
		h.Route = x.route.label
	}
}

// withoutUserinfo removes the user and the password from a target that is not a
// path, as in CONNECT user:password@host:443. Such a request is refused.
func withoutUserinfo(path string) string {
	if path == "" || path[0] == '/' {
		return path
	}
	if at := strings.LastIndexByte(path, '@'); at >= 0 {
		return "[redacted]" + path[at:]
	}
	return path
}

// level returns the severity of the outcome. Failures of an upstream and of the disk are errors.
// A client that disconnects is not, nor is a response with status 5xx that the
// upstream has sent completely. A refusal by a limit is only INFO, so that a flood
// of them is dropped first when the log is full.
func (x *exchange) level() log.Level {
	switch {
	case x.Err == nil && x.Server != nil && x.Status >= 500:
		return log.LevelWarn
	case x.Err == nil:
		return log.LevelInfo
	case x.Failure() == nil || x.FailedByUpstream() || x.Failure().Kind == stage.FileFailed:
		return log.LevelError
	}
	return log.LevelWarn
}

func protocol(x *exchange) string {
	switch {
	case x.HTTP2:
		return "HTTP/2.0"
	case x.HTTP3:
		return "HTTP/3.0"
	case x.HTTP10:
		return "HTTP/1.0"
	}
	return "HTTP/1.1"
}

func (x *exchange) userAgentAndReferer() (userAgent, referer string) {
	for i := range x.Header {
		switch f := &x.Header[i]; len(f.Name) {
		case len("User-Agent"):
			if httpsyntax.EqualFold(f.Name, "User-Agent") {
				userAgent = f.Value
			}
		case len("Referer"):
			if httpsyntax.EqualFold(f.Name, "Referer") {
				referer = f.Value
			}
		}
	}
	return userAgent, referer
}

// addFields adds an object with those of the named header fields that exist.
func addFields(e log.Event, key string, names []string, fields []proxying.Field) {
	if !slices.ContainsFunc(names, func(name string) bool { return stage.Joined(fields, name) != "" }) {
		return
	}
	e.Object(key, func(e log.Event) {
		for _, name := range names {
			if value := stage.Joined(fields, name); value != "" {
				e.URL(name, value) // any field may hold a URL with secrets in it
			}
		}
	})
}
