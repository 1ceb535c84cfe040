package wire

import (
	"reflect"
	"runtime"
	"sync"
)

const maxFrames = 10

// frames holds what is known of each program counter: there are as many as the
// program has calls on a way to an error that is logged.
var frames sync.Map // uintptr → []EventStackTrace

// Stack returns up to ten frames, innermost first. With skip 0 the first is
// the caller of Stack.
func Stack(skip int) []EventStackTrace {
	var pcs [maxFrames]uintptr
	n := runtime.Callers(skip+2, pcs[:])
	stack := make([]EventStackTrace, 0, n)
	for _, pc := range pcs[:n] {
		stack = append(stack, framesOf(pc)...)
	}
	return stack
}

func framesOf(pc uintptr) []EventStackTrace {
	if known, ok := frames.Load(pc); ok {
		return known.([]EventStackTrace)
	}
	var list []EventStackTrace
	more := true
	for walk := runtime.CallersFrames([]uintptr{pc}); more; {
		var f runtime.Frame
		f, more = walk.Next()
		list = append(list, EventStackTrace{File: f.File, Line: f.Line, Function: f.Function})
	}
	frames.Store(pc, list)
	return list
}

// IsStruct reports whether err is a struct or points to one. What else an
// error may be does not become an object in JSON.
func IsStruct(err error) bool {
	t := reflect.TypeOf(err)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Kind() == reflect.Struct
}
