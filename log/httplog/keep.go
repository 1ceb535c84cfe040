package httplog

import (
	"net/http"
	"sync"
	"time"

	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/slowest"
	"github.com/weirhq/weir/log/traceid"
)

// A Keep selects the requests that write all their events. Of other requests only "http request completed" is written. A
// front door does the same with log.events: interesting.
//
// The events of a request are held until it has ended, and are written if
//
//   - it failed, or its status is 500 or more;
//   - it took longer than SlowerThan. A hijacked connection is never slow;
//   - one of its events has [log.LevelWarn] or worse. This event is not held, and those before it are written with it;
//   - Trust trusts its client, whose traceparent has the flag "sampled";
//   - it is in the Share.
//
// Held are the events of [log.From], and those of log/slog with the request's context. An event that is sent after the
// request has ended is written. A panic of the handler is a failure. Held events are lost if the process ends without
// waiting for the requests in flight, as by SIGKILL or a panic in another goroutine.
//
// The zero value is ready for use. Middlewares may share a Keep, which must not be copied.
type Keep struct {
	// SlowerThan is the duration above which a request is interesting. Zero means longer than 99% of the requests of its
	// route.
	SlowerThan time.Duration

	// Share is the share of the requests, from 0 to 1, that are interesting anyway. It is chosen by the trace id, so that
	// all services and front doors with the same share choose the same requests.
	Share float64

	// Trust reports whether the flag "sampled" of a client is followed. Nil follows that of no client. Do not trust a Weir
	// front door here, because it sets the flag of all requests that come without a traceparent.
	Trust func(*http.Request) bool

	// Bytes limits the events that are held for one request; zero means log.DefaultHoldBytes. When they have so many
	// bytes, the oldest are discarded. If the request is interesting, data.discarded of its completed event is their number.
	Bytes int

	// Counts counts the held and the discarded events.
	Counts log.HoldCounts

	mu     sync.RWMutex
	routes map[string]*slowest.Percent // guarded by mu
	others slowest.Percent
}

// maxRoutes limits the routes that have their own percentile. A program with more of them makes patterns of paths.
const maxRoutes = 1000

// end writes or discards the held events of a request.
func (k *Keep) end(x *exchange, o outcome) (missing int) {
	if k.selects(x, o) {
		return x.hold.Write()
	}
	x.hold.Discard()
	return 0
}

// selects reports whether a request is interesting. The percentile of its route learns its duration in any case.
func (k *Keep) selects(x *exchange, o outcome) bool {
	switch {
	case !x.hijacked && k.isSlow(x.http.Route, x.http.Duration), o.level >= log.LevelWarn, x.http.StatusCode >= 500:
		return true
	case k.Trust != nil && isSampled(x.request.Header) && k.Trust(x.request):
		return true
	}
	return k.Share > 0 && traceid.Fraction(x.logger.TraceID()) < k.Share
}

func (k *Keep) isSlow(route string, took time.Duration) bool {
	if k.SlowerThan > 0 {
		return took > k.SlowerThan
	}
	return k.slowest(route).Add(took)
}

// slowest returns the percentile of a route. Routes beyond maxRoutes share one.
func (k *Keep) slowest(route string) *slowest.Percent {
	k.mu.RLock()
	p, full := k.routes[route], len(k.routes) >= maxRoutes
	k.mu.RUnlock()
	switch {
	case p != nil:
		return p
	case full:
		return &k.others
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.routes == nil {
		k.routes = map[string]*slowest.Percent{}
	}
	if k.routes[route] == nil {
		k.routes[route] = new(slowest.Percent)
	}
	return k.routes[route]
}

// isSampled reports whether a request has a valid traceparent with the flag "sampled".
func isSampled(header http.Header) bool {
	parent := only(header, "Traceparent")
	return traceid.OfParent(parent) != "" && traceid.IsSampled(parent)
}
