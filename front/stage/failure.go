package stage

import "github.com/weirhq/weir/internal/proxying"

// The kinds of failures that a front door adds to the kinds of package proxying.
const (
	Drained    proxying.Kind = "drained" // cut, because the time to drain was up
	FileFailed proxying.Kind = "file"    // a file cannot be opened or read
)

// Failure returns the reason why the exchange failed. It is nil if the exchange succeeded or
// panicked.
func (x *Exchange) Failure() *proxying.Error {
	failure, _ := x.Err.(*proxying.Error)
	return failure
}

// FailedByUpstream reports whether the upstream caused the failure.
func (x *Exchange) FailedByUpstream() bool {
	failure := x.Failure()
	return failure != nil && failure.ByUpstream() && failure.Kind != Drained && failure.Kind != FileFailed
}
