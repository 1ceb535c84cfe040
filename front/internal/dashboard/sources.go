package dashboard

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/weirhq/weir/front/internal/recent"
)

// Sources are the parts of a front door that its dashboard reads.
type Sources struct {
	Metrics  prometheus.Gatherer
	Draining func() bool
	Writable func() bool // servers can be drained here
	Failures *recent.Failures
	// LogError returns the last error of a destination of the log, or "".
	LogError func(to string) string
	// LogFile returns the file of the log that can be searched now, or why there is none.
	LogFile func() (file, why string)
	Tap     *recent.Tap // of the log
	// Untailable returns why the lines of the log are no events, or "".
	Untailable func() string
}
