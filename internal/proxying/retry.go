package proxying

import "slices"

const (
	// DefaultAttempts is how often a request is sent at most if Retry sets no other number.
	DefaultAttempts = 3
	// MaxAttempts is the greatest value of [Retry.Attempts].
	MaxAttempts = 5
)

// A RetryReason is why a request is sent again. It is also the value of a metric's label.
type RetryReason string

const (
	// RetryStale: the connection has served another exchange and was dead before the first
	// byte of the response. Usually the server closed it while it was unused.
	RetryStale RetryReason = "stale"
	// RetryRefused: the server has refused the stream without processing it, by RST_STREAM or
	// GOAWAY of HTTP/2. This applies to all methods, and is no attempt in the sense of
	// [Retry.Attempts], unless that is 1. The 21st refusal is a failure.
	RetryRefused RetryReason = "refused"
	// RetryReset: the connection was reset or closed before the head of the response was
	// complete.
	RetryReset RetryReason = "reset"
	// RetryTimeout: the head did not arrive within [Exchange.TryTimeout].
	RetryTimeout RetryReason = "timeout"
	// The server responded with this status.
	Retry502 RetryReason = "502"
	Retry503 RetryReason = "503"
	Retry504 RetryReason = "504"
)

// A Retry determines when a request that has been sent is sent again. The request goes to a usable
// server that it was not sent to before, if there is one. This is the case only for a request
// without a body, or with one that was read completely before it was sent (see
// [Exchange.BufferedBody]), and if nothing of the response was passed to the client.
//
// Connecting to another server needs no Retry: nothing was sent yet. See
// [Options.ConnectRetry].
//
// Except for RetryStale and RetryRefused, a budget limits requests that are sent again to 10% of those of the
// upstream in the last ten seconds, and ten per second. Each connection is stale at most once.
type Retry struct {
	// Attempts is how often a request is sent at most: 1 is once, MaxAttempts the maximum. 0
	// means DefaultAttempts.
	Attempts int

	// Methods are those of the requests that may be sent again. nil means the safe methods
	// (RFC 9110 section 9.2.1): GET, HEAD, OPTIONS and TRACE.
	Methods []string

	// On are the reasons, besides RetryStale and RetryRefused. nil means RetryReset and RetryTimeout. A reason
	// other than RetryReset applies only if there is another usable server.
	On []RetryReason
}

// repeats reports whether requests with a method may be sent again.
func (r *Retry) repeats(method string) bool {
	if r.Methods == nil {
		return safe(method)
	}
	return slices.Contains(r.Methods, method)
}

func (r *Retry) attempts() int {
	if r.Attempts == 0 {
		return DefaultAttempts
	}
	return r.Attempts
}

// on reports whether a request is sent again for a reason.
func (r *Retry) on(why RetryReason) bool {
	switch {
	case why == RetryStale:
		return true
	case r.On == nil:
		return why == RetryReset || why == RetryTimeout
	}
	return slices.Contains(r.On, why)
}

// safe reports whether a method is safe, RFC 9110 section 9.2.1, so that the
// request can be repeated without harm.
func safe(method string) bool {
	switch method {
	case "GET", "HEAD", "OPTIONS", "TRACE":
		return true
	}
	return false
}
