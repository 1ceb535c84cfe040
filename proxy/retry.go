package proxy

import (
	"time"

	"github.com/weirhq/weir/internal/proxying"
)

// A Retry determines when a request that has been sent is sent again. The request goes to a
// server that it was not sent to before, if there is one. This is the case only for a request
// without a body, or with one of up to 16 KiB, which is read completely before it is sent, and if
// nothing of the response was passed to the client.
//
// Connecting to another server needs no Retry: nothing was sent yet. See [Options.ConnectRetry].
//
// Except for RetryStale and RetryRefused, a budget limits requests that are sent again to 10% of
// those of the upstream in the last ten seconds, and ten per second.
type Retry struct {
	// Attempts is how often a request is sent at most, from 1, which is once, to 5. 0 means 3.
	Attempts int

	// Methods are those of the requests that may be sent again. Nil means the safe methods
	// (RFC 9110 section 9.2.1): GET, HEAD, OPTIONS and TRACE.
	Methods []string

	// On are the reasons, besides RetryStale and RetryRefused. Nil means RetryReset and
	// RetryTimeout. A reason other than RetryReset applies only if there is another server.
	On []RetryReason

	// TryTimeout limits the time from the choice of a server to the head of its response. Then
	// the request is sent to another server, or fails with kind Timeout. 0 means no limit. A
	// request whose body is still being sent has none: its time depends on the client.
	TryTimeout time.Duration
}

// A RetryReason is why a request is sent again.
type RetryReason string

const (
	// RetryStale: the connection has served another request and was dead before the first byte of
	// the response. Usually the server closed it while it was unused.
	RetryStale = RetryReason(proxying.RetryStale)
	// RetryRefused: the server has refused the stream without processing it, by RST_STREAM or
	// GOAWAY of HTTP/2. This applies to all methods, and is no attempt in the sense of Attempts,
	// unless that is 1. The 21st refusal is a failure.
	RetryRefused = RetryReason(proxying.RetryRefused)
	// RetryReset: the connection was reset or closed before the head of the response was complete.
	RetryReset = RetryReason(proxying.RetryReset)
	// RetryTimeout: the head did not arrive within TryTimeout.
	RetryTimeout = RetryReason(proxying.RetryTimeout)
	// The server responded with this status.
	Retry502 = RetryReason(proxying.Retry502)
	Retry503 = RetryReason(proxying.Retry503)
	Retry504 = RetryReason(proxying.Retry504)
)

func (r *Retry) inner() proxying.Retry {
	e := proxying.Retry{Attempts: r.Attempts, Methods: r.Methods}
	for _, why := range r.On {
		e.On = append(e.On, proxying.RetryReason(why))
	}
	return e
}
