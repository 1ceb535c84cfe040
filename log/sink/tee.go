package sink

import (
	"errors"

	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/internal/unwrap"
)

// A Tee hands each event to several sinks; a [Filter] before one of them gives
// it a level of its own. Make one with [NewTee]. Any number of goroutines may
// use it if they may use its parts.
//
// The parts take an event one after the other, in the caller's goroutine, so
// each is to be a [Queue], which has a goroutine, a bound and a policy of its
// own: when what is behind one stands still, the others do not notice, unless
// that one has its callers wait ([Block]), and then for its Wait at most. What
// became of an event is in the Stats of each part.
type Tee struct {
	parts []log.EventWriter
}

// NewTee returns a Tee. The sinks stay the caller's to close.
func NewTee(sinks ...log.EventWriter) *Tee {
	return &Tee{parts: append([]log.EventWriter(nil), sinks...)}
}

// WriteEvent hands a line to each part, whatever the others say. It returns
// len(line) or, when a part did not take it, the least that one took and all
// their errors.
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

// UseOptions passes the options on to each part that writes events of its own;
// see [log.EventWriter].
func (t *Tee) UseOptions(o log.Options) {
	type optionsUser interface{ UseOptions(log.Options) }
	for _, part := range t.parts {
		if user, ok := unwrap.First[optionsUser](part); ok {
			user.UseOptions(o)
		}
	}
}

// Write is WriteEvent at [log.LevelInfo], for what writes lines without a
// level.
func (t *Tee) Write(line []byte) (int, error) {
	return t.WriteEvent(log.LevelInfo, line)
}
