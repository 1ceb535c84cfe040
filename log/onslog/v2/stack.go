package log

import (
	"reflect"
	"runtime"
	"sync"
)

const maxFrames = 10

// frames caches the frames of each program counter. Its size is limited by the
// number of calls in the program that lead to a logged error.
var frames sync.Map // uintptr → []EventStackTrace

// stackOf returns up to ten frames, innermost first. With skip 0, the first frame
// is the caller of stackOf.
func stackOf(skip int) []EventStackTrace {
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

// isStruct reports whether err is a struct or a pointer to one. Errors of other
// types do not become a JSON object.
func isStruct(err error) bool {
	t := reflect.TypeOf(err)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Kind() == reflect.Struct
}
