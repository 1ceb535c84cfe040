package front

import (
	"io"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/weirhq/weir/log"
)

// TestMirrorPanic has a copy that cannot be sent because of a fault in this program. It must
// not end the process, and gives its slots back.
func TestMirrorPanic(t *testing.T) {
	t.Parallel()
	metrics := newMetrics(prometheus.NewGauge(prometheus.GaugeOpts{Name: "log"}))
	m := &mirror{
		all: newMirrors(func() *log.Logger { return log.New(io.Discard, log.Options{}) }, 1), slots: slots{max: 1},
		counts: metrics.mirror("/", "shadow"),
	}
	for range 3 {
		if !m.enter() {
			t.Fatal("a slot was not given back")
		}
		if m.enter() {
			t.Fatal("two copies in one slot")
		}
		m.send(new(requestCopy)) // panics: the mirror has no proxy
	}
}
