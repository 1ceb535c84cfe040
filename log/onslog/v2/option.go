package log

import (
	"net/http"
	"time"

	"github.com/weirhq/weir/log/onslog/internal/wire"
)

type option = wire.Option

// The severities. [Event] takes one; as an option, a severity overrides it.
const (
	FATAL severity = 0
	ERROR severity = 1
	WARN  severity = 2
	INFO  severity = 3
)

type severity = wire.Severity

// Data is an option of [Event]: a map[string]any for values that no other
// option covers. Keys are written in sorted order, values as encoding/json
// writes them.
type Data = wire.Data

// The kinds of identity.
const (
	SERVICE identityType = "service"
	USER    identityType = "user"
)

type identityType = wire.IdentityType

type eventAuth = wire.EventAuth

// Auth returns an option with the identity on whose behalf the service acts.
func Auth(identityType identityType, identity string) option {
	return &eventAuth{Identity: identity, IdentityType: identityType}
}

type classification = wire.Classification

// ProtectiveMonitoring is the classification of events for security monitoring.
const ProtectiveMonitoring classification = "PROTECTIVE_MONITORING"

// Classification returns an option with the audience of the event.
func Classification(c classification) option { return c }

// EventHTTP describes a request and its response: StatusCode, Method, Scheme,
// Host, Port, Path, Query, StartedAt, EndedAt, Duration and
// ResponseContentLength. Nil pointers and other zero fields are omitted. A
// pointer to an EventHTTP is an option of [Event].
type EventHTTP = wire.EventHTTP

// HTTP returns an option with a request and, once it is known, its response. A time
// that is not known yet is nil. If both times are given, the event also has the
// duration. If the URL has no port, the port is 0 and omitted.
//
// HTTP reads the request during the call. It keeps the pointers to the times;
// [Event] reads them.
func HTTP(req *http.Request, statusCode int, responseContentLength int64, startedAt, endedAt *time.Time) option {
	o := wire.NewHTTP(req, statusCode, responseContentLength, startedAt, endedAt)
	return &o
}
