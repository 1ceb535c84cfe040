package sink

import (
	"io"

	"github.com/weirhq/weir/log"
)

// A Filter passes on the events of one level and above. It gives a destination
// of a [Tee] its own level:
//
//	sink.NewTee(stdout, sink.NewFilter(alerts, log.LevelError))
//
// The level of the Logger applies first: set it to the lowest level of all
// destinations. Events that a Filter omits are in no Stats. Make one with
// [NewFilter]. Any number of goroutines may use it if they may use its writer.
type Filter struct {
	to    log.EventWriter
	least log.Level
}

// NewFilter returns a Filter that passes on events of least and above. The
// caller closes the writer.
func NewFilter(to log.EventWriter, least log.Level) *Filter {
	return &Filter{to: to, least: least}
}

// Unwrap returns the writer.
func (f *Filter) Unwrap() io.Writer { return f.to }

// WriteEvent passes a line on. It returns len(line) for a line that it omits.
func (f *Filter) WriteEvent(level log.Level, line []byte) (int, error) {
	if level < f.least {
		return len(line), nil
	}
	return f.to.WriteEvent(level, line)
}

// Write is WriteEvent at [log.LevelInfo], for lines without a level.
func (f *Filter) Write(line []byte) (int, error) {
	return f.WriteEvent(log.LevelInfo, line)
}
