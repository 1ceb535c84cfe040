package log

import (
	"fmt"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/weirhq/weir/log/internal/text"
)

const maxFrames = 32 // of a stack: the innermost

// A frame is what a program counter of a stack stands for, in each of the forms
// in which it is written.
type frame struct {
	pc    uintptr
	json  []byte // {"file":...,"line":...,"function":...}
	ltsv  []byte // FUNCTION@FILE:LINE
	place string // folder/file.go:12
}

// frames has what frameOf found lately. A program's counters are as many as
// the calls in it, but those that an error claims may be any: where all places
// for a counter are taken, the first is given up.
var frames [4096]atomic.Pointer[frame]

// frameOf returns what pc, as runtime.Callers gives it, stands for. To find
// out costs more than writing the rest of an event.
func frameOf(pc uintptr) *frame {
	const fibonacci, places = 0x9E3779B97F4A7C15, 4
	at := uint64(pc) * fibonacci >> 52
	var free *atomic.Pointer[frame]
	for i := range uint64(places) {
		slot := &frames[(at+i)%uint64(len(frames))]
		f := slot.Load()
		switch {
		case f == nil && free == nil:
			free = slot
		case f != nil && f.pc == pc:
			return f
		}
	}
	if free == nil {
		free = &frames[at]
	}
	f := newFrame(pc)
	free.Store(f)
	return f
}

// newFrame looks pc up. Since it is asked for one counter at a time, which
// runtime.Callers has already made one for each call that was inlined, it gets
// one frame; code of other languages, which may have more, gives its first.
func newFrame(pc uintptr) *frame {
	found, _ := runtime.CallersFrames([]uintptr{pc}).Next()
	line := strconv.Itoa(found.Line)
	f := &frame{pc: pc, place: shortPath(found.File) + ":" + line}
	f.json = text.AppendString([]byte(`{"file":`), found.File)
	f.json = append(append(f.json, `,"line":`...), line...)
	f.json = text.AppendString(append(f.json, `,"function":`...), found.Function)
	f.json = append(f.json, '}')
	f.ltsv = text.AppendLTSV(nil, found.Function+"@"+found.File+":"+line)
	return f
}

// shortPath returns the last folder and the file of a path.
func shortPath(path string) string {
	file := strings.LastIndexByte(path, '/')
	if file < 0 {
		return path
	}
	return path[strings.LastIndexByte(path[:file], '/')+1:]
}

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

// callerOfPackage returns the place of the innermost call that is outside of
// this package, as FILE:LINE.
func callerOfPackage() string {
	var pcs [maxFrames]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs[:])])
	for {
		frame, more := frames.Next()
		if !more || !strings.HasPrefix(frame.Function, "github.com/weirhq/weir/log.") {
			return fmt.Sprintf("%s:%d", frame.File, frame.Line)
		}
	}
}
