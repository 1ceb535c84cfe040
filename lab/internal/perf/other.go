//go:build !linux

package perf

import (
	"errors"
	"fmt"
)

// An Event is a kind of event that a Counter counts.
type Event struct{ name string }

// Instructions are those that a program executes in user mode.
var Instructions = Event{"instructions"}

// A Counter counts an event.
type Counter struct{}

// Count returns [errors.ErrUnsupported].
func (e Event) Count([]int) (*Counter, error) {
	return nil, fmt.Errorf("count %s: %w", e.name, errors.ErrUnsupported)
}

// These methods cannot be called, because Count returns no Counter.

func (*Counter) Value() (float64, error) { return 0, nil }
func (*Counter) Close()                  {}
