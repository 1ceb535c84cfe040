package logto

import (
	"testing"
	"time"

	"github.com/weirhq/weir/log/stream"
)

// TestOnlyOTLPBatchesAreLarger checks that only batches for OTLP, which are compressed, are larger than others.
func TestOnlyOTLPBatchesAreLarger(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]int{
		"otlp+http://collector:4318":  768 << 10,
		"otlp+https://collector:4318": 768 << 10,
		"nats://nats-1:4222/logs":     stream.DefaultBatch,
		"tls://nats-1:4222/logs":      stream.DefaultBatch,
	} {
		if got := serverBatch(name); got != want {
			t.Errorf("serverBatch(%q) = %d, want %d", name, got, want)
		}
	}
}

// TestEventsForServersLingerLonger checks that events for servers wait longer than those for files, at most for a
// second unless they do so for files, and not at all with linger: off.
func TestEventsForServersLingerLonger(t *testing.T) {
	t.Parallel()
	for own, want := range map[time.Duration]time.Duration{
		0:                      0,
		5 * time.Millisecond:   100 * time.Millisecond,
		200 * time.Millisecond: time.Second,
		time.Minute:            time.Minute,
	} {
		if got := serverLinger(own); got != want {
			t.Errorf("serverLinger(%s) = %s, want %s", own, got, want)
		}
	}
}
