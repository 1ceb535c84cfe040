package mirror

import (
	"io"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/weirhq/weir/front/stage"
	"github.com/weirhq/weir/log"
)

// TestPanicOfCopyGivesSlotBack has a copy that cannot be sent because of a fault in this program. It must
// not end the process, and gives its slots back.
func TestPanicOfCopyGivesSlotBack(t *testing.T) {
	t.Parallel()
	d := &stage.Door{Metrics: prometheus.NewRegistry(), Log: func() *log.Logger { return log.New(io.Discard, log.Options{}) }}
	all := NewCopies(d, part)
	m := &mirror{all: all, slots: slots{max: 1}, counts: all.metrics.of("/", "shadow")}
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
