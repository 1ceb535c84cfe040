package metric_test

import (
	"testing"
	"testing/synctest"
	"time"

	dto "github.com/prometheus/client_model/go"

	"github.com/weirhq/weir/front/internal/metric"
)

// TestHistogramsOnlyGrow observes durations of more native buckets than a histogram keeps, for hours.
func TestHistogramsOnlyGrow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := metric.NewDurations("d", "durations").WithLabelValues()
		n := 0
		for range 5 {
			for d := 20e-6; d < 100; d *= 1.05 {
				h.Observe(d)
				n++
			}
			time.Sleep(time.Hour)
		}
		var m dto.Metric
		if err := h.(interface{ Write(*dto.Metric) error }).Write(&m); err != nil {
			t.Fatal(err)
		}
		if got := m.GetHistogram().GetSampleCount(); got != uint64(n) {
			t.Errorf("%d of %d durations are counted", got, n)
		}
	})
}
