package log

import (
	"net/http"
	"time"

	"github.com/weirhq/weir/log/onslog/internal/wire"
)

// EventHTTP is what an event says about a request: StatusCode, Method, Scheme,
// Host, Port, Path, Query, StartedAt, EndedAt, Duration and
// ResponseContentLength. Pointers that are nil and other fields that are zero
// are left out. A pointer to one is an option of [Event].
type EventHTTP = wire.EventHTTP

// HTTP returns an option with a request and what became of it so far. Times
// that are not known yet are nil; the event has the duration when both are
// given. The port is 0, and left out, when the URL names none.
//
// The times are read when the event is logged, the request right away.
func HTTP(req *http.Request, statusCode int, responseContentLength int64, startedAt, endedAt *time.Time) option {
	o := wire.NewHTTP(req, statusCode, responseContentLength, startedAt, endedAt)
	return &o
}
