package log

import (
	"net/http"
	"time"

	"github.com/weirhq/weir/log/onslog/internal/wire"
)

type option = wire.Option

// The severities. Each is an option of [Event].
const (
	FATAL severity = 0
	ERROR severity = 1
	WARN  severity = 2
	INFO  severity = 3
)

type severity = wire.Severity

// Data is an option of [Event]: a map[string]any of the values that have no
// field of their own. Its keys are sorted, and its values are written as
// encoding/json writes them.
type Data = wire.Data

// The kinds of account that an identity can have.
const (
	SERVICE identityType = "service"
	USER    identityType = "user"
)

type identityType = wire.IdentityType

type eventAuth = wire.EventAuth

// Auth returns an option with the identity for which the service acts.
func Auth(identityType identityType, identity string) option {
	return &eventAuth{Identity: identity, IdentityType: identityType}
}

// EventHTTP is a request and its response: StatusCode, Method, Scheme, Host,
// Port, Path, Query, StartedAt, EndedAt, Duration and ResponseContentLength. Nil
// pointers and other zero fields are omitted. A pointer to an EventHTTP is an
// option of [Event].
type EventHTTP = wire.EventHTTP

// HTTP returns an option with a request and, once it is known, its response.
// Times that are not known yet are nil; the event has the duration if both are
// given. The port is 0, and omitted, if the URL has none.
//
// The request is read immediately, and the times when the event is logged.
func HTTP(req *http.Request, statusCode int, responseContentLength int64, startedAt, endedAt *time.Time) option {
	o := wire.NewHTTP(req, statusCode, responseContentLength, startedAt, endedAt)
	return &o
}
