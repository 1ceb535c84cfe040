// Package panicked makes errors of panics, with the stack for the log.
package panicked

import (
	"fmt"
	"runtime"

	"github.com/weirhq/weir/log"
)

// An Error is the value of a panic and its stack.
type Error struct {
	value any
	pcs   []uintptr
}

var _ log.Stacker = (*Error)(nil)

// New captures the stack of the panic that is being recovered. Only the deferred
// function itself may call it, because it skips a fixed number of frames.
func New(value any) *Error {
	pcs := make([]uintptr, 32)
	return &Error{value: value, pcs: pcs[:runtime.Callers(4, pcs)]}
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprint(e.value) }

// Callers implements log.Stacker.
func (e *Error) Callers() []uintptr { return e.pcs }
