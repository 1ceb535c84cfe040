package proxying

import (
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/weirhq/weir/internal/http2"
	"github.com/weirhq/weir/internal/proxying/internal/balance"
)

// errAgain ends an attempt whose response is discarded because the request is sent again.
var errAgain = errors.New("sent again")

// wasSentTo reports whether the request was sent to a server.
func (t *transfer) wasSentTo(s *Server) bool { return slices.Contains(t.lastServers(), &s.state) }

// lastServers returns the servers of the last attempts.
func (t *transfer) lastServers() []*balance.Server { return t.sentTo[:min(t.tries, len(t.sentTo))] }

// others reports whether there is a usable server that the request was not sent to. Without one, the next attempt could
// go to any server.
func (t *transfer) others(now time.Time) bool {
	return slices.ContainsFunc(t.up.Servers(), func(s *Server) bool {
		return !t.wasSentTo(s) && s.state.Usable(now) && !s.state.Draining()
	})
}

// retry decides whether the request is sent again for a reason. If so, it sets t.why.
func (t *transfer) retry(why RetryReason) {
	x, r := t.x, &t.up.options.Retry
	if !t.repeatable || !r.on(why) || t.tries-t.refusals >= r.attempts() || x.cancelled.Load() {
		return
	}
	now := time.Now()
	switch {
	case x.overdue(now):
	case why != RetryStale && why != RetryReset && !t.others(now):
	case why != RetryStale && !t.up.budget.Take(now):
		x.RetryDenied = why
	default:
		t.why = why
	}
}

// retryFailed decides whether the request is sent again after an attempt has failed.
func (t *transfer) retryFailed(err error) {
	var failed *Error
	switch {
	case t.x.Began || t.x.Upgraded || !errors.As(err, &failed) || failed.NotConnected():
	case errors.Is(err, http2.ErrRefused):
		t.retryRefused()
	case t.stale:
		t.retry(RetryStale)
	case failed.Kind == Reset || failed.Kind == Closed || errors.Is(err, http2.ErrSilent):
		t.retry(RetryReset)
	case failed.Kind == Timeout && t.tryOver():
		t.retry(RetryTimeout)
	}
}

// maxRefusals is how often a request is sent again because a server has not processed it. A server
// that ends its connections after 20 requests refuses the last of 200 simultaneous ones nine times.
const maxRefusals = 20

// retryRefused decides whether the request is sent again after the server has not processed it.
// This is safe with any method, and does not count as an attempt.
func (t *transfer) retryRefused() {
	x := t.x
	inMemory := x.upload == nil && !t.expecting
	once := t.up.options.Retry.attempts() == 1
	if inMemory && !once && t.refusals < maxRefusals && !x.cancelled.Load() && !x.overdue(time.Now()) {
		t.refusals++
		t.why = RetryRefused
	}
}

// again prepares the next attempt. It waits before it sends the request to a server that has
// just failed: the kernel accepts connections for a process that is shutting down.
func (t *transfer) again(err error) *Error {
	x := t.x
	if x.Retried = t.why; err != errAgain {
		x.Err = err
	}
	t.notify(Retrying)
	x.Err, x.Waited = nil, 0
	if t.why == RetryStale || t.up.options.ConnectRetry == 0 || t.others(time.Now()) {
		return nil
	}
	return x.pause(maxPause)
}

// retryStatus decides whether the request is sent again because of the status of the response.
func (t *transfer) retryStatus() {
	if status := t.x.response.Status; status >= 502 && status <= 504 {
		t.retry(RetryReason(strconv.Itoa(status)))
	}
}
