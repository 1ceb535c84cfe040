package sink

import (
	"errors"

	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/internal/unwrap"
)

// A Tee hands each event to several sinks. A [Filter] before one of them gives
// it its own level. Make one with [NewTee]. Any number of goroutines may use it
// if they may use its parts.
//
// The caller's goroutine hands an event to one part after the other, so each
// part should be a [Queue], which has its own goroutine, limit and policy. A
// blocked destination then does not affect the others, except that a part with
// [Block] makes its callers wait, at most for its Wait. The Stats of each part
// count the outcome of an event.
type Tee struct {
	parts []log.EventWriter
}

// NewTee returns a Tee. The caller closes the sinks.
func NewTee(sinks ...log.EventWriter) *Tee {
	return &Tee{parts: append([]log.EventWriter(nil), sinks...)}
}

// WriteEvent hands a line to each part, also after errors. It returns
// len(line). If parts failed, it returns the smallest count and all errors.
func (t *Tee) WriteEvent(level log.Level, line []byte) (int, error) {
	least := len(line)
	var failed error
	for _, part := range t.parts {
		n, err := part.WriteEvent(level, line)
		least = min(least, n)
		if err != nil {
			failed = errors.Join(failed, err)
		}
	}
	return least, failed
}

// UseOptions passes the options on to each part that writes events itself; see
// [log.EventWriter].
func (t *Tee) UseOptions(o log.Options) {
	type optionsUser interface{ UseOptions(log.Options) }
	for _, part := range t.parts {
		if user, ok := unwrap.First[optionsUser](part); ok {
			user.UseOptions(o)
		}
	}
}

// Write is WriteEvent at [log.LevelInfo], for lines without a level.
func (t *Tee) Write(line []byte) (int, error) {
	return t.WriteEvent(log.LevelInfo, line)
}
