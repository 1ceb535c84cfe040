package log

import (
	"reflect"
	"sync"
)

// stackTracers holds, for each type of error that was logged, whether it has the
// method StackTrace of github.com/pkg/errors. It is asked for each error: to
// look the method up takes longer than to write the error.
var stackTracers sync.Map // reflect.Type → bool

// hasStackTrace reports whether the error has that method. No interface can
// express it without an import, because its result is a slice of a named type,
// Frame, whose kind is uintptr.
func hasStackTrace(err error) bool {
	t := reflect.TypeOf(err)
	if known, ok := stackTracers.Load(t); ok {
		return known.(bool)
	}
	method, ok := t.MethodByName("StackTrace")
	ok = ok && returnsFrames(method.Type)
	stackTracers.Store(t, ok)
	return ok
}

// returnsFrames reports whether a method, whose first parameter is the receiver,
// takes nothing and returns a slice of a type whose kind is uintptr.
func returnsFrames(method reflect.Type) bool {
	if method.NumIn() != 1 || method.NumOut() != 1 {
		return false
	}
	frames := method.Out(0)
	return frames.Kind() == reflect.Slice && frames.Elem().Kind() == reflect.Uintptr
}

// stackTrace calls the method. A Frame is a program counter as runtime.Callers
// gives it.
func stackTrace(err error) []uintptr {
	frames := reflect.ValueOf(err).MethodByName("StackTrace").Call(nil)[0]
	pcs := make([]uintptr, min(frames.Len(), maxFrames))
	for i := range pcs {
		pcs[i] = uintptr(frames.Index(i).Uint())
	}
	return pcs
}
