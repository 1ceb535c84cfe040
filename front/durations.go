package front

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// newDurations returns histograms of seconds. Each has classic buckets and, for
// the Prometheus servers that ask for them, native ones, which are at most 10%
// wide. A histogram takes about 6 KiB, 1.4 of them for the classic buckets, and
// up to 9 KiB with durations from microseconds to minutes.
func newDurations(name, help string, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    name,
		Help:    help,
		Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60},

		NativeHistogramBucketFactor:     1.1,
		NativeHistogramMaxBucketNumber:  100,
		NativeHistogramMinResetDuration: time.Hour,
	}, labels)
}
