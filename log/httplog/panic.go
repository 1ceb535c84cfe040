package httplog

import (
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/weirhq/weir/log"
)

// A panicError is the value of a panic and its stack.
type panicError struct {
	value any
	pcs   []uintptr
}

// newPanicError records the stack of the panic that is being recovered.
func newPanicError(value any) *panicError {
	pcs := make([]uintptr, 64)
	pcs = pcs[:runtime.Callers(1, pcs)]
	from := 1 + slices.IndexFunc(pcs, func(pc uintptr) bool { return function(pc) == "runtime.gopanic" })
	for from < len(pcs) && strings.HasPrefix(function(pcs[from]), "runtime.") {
		from++ // runtime functions between the panic and its cause, such as a nil pointer
	}
	return &panicError{value, pcs[from:]}
}

// function returns the name of the function that contains the return address.
func function(pc uintptr) string { return runtime.FuncForPC(pc - 1).Name() }

func (e *panicError) Error() string { return fmt.Sprint(e.value) }

// Callers implements log.Stacker.
func (e *panicError) Callers() []uintptr { return e.pcs }

var _ log.Stacker = (*panicError)(nil)
