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

const maxFrames = 32 // the innermost frames of a stack

// A frame is the place in the code of a program counter, in each form in which
// it is written.
type frame struct {
	pc    uintptr
	json  []byte // {"file":...,"line":...,"function":...}
	ltsv  []byte // FUNCTION@FILE:LINE
	place string // folder/file.go:12
}

// frames caches the results of frameOf. The program counters of a program are
// limited by the calls in it, but a user's error may return any. If all slots
// for a program counter are taken, the first is replaced.
var frames [4096]atomic.Pointer[frame]

// frameOf returns the frame of pc, a value from runtime.Callers. Without the
// cache, this would cost more than the rest of an event.
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

// newFrame resolves pc. One program counter of runtime.Callers is one frame,
// because inlined calls have their own. Code of other languages may have
// several frames per program counter; newFrame takes the first.
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

// shortPath returns the last folder and the file name of a path.
func shortPath(path string) string {
	file := strings.LastIndexByte(path, '/')
	if file < 0 {
		return path
	}
	return path[strings.LastIndexByte(path[:file], '/')+1:]
}

// stackTracers caches, for each type of error that was logged, whether it has
// the method StackTrace of github.com/pkg/errors. Finding a method by
// reflection takes longer than writing the error.
var stackTracers sync.Map // reflect.Type → bool

// hasStackTrace reports whether the error has that method. An interface cannot
// express it without an import, because the result is a slice of a named type,
// Frame, of kind uintptr.
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

// returnsFrames reports whether a method, with the receiver as its only
// parameter, returns a slice of a type of kind uintptr.
func returnsFrames(method reflect.Type) bool {
	if method.NumIn() != 1 || method.NumOut() != 1 {
		return false
	}
	frames := method.Out(0)
	return frames.Kind() == reflect.Slice && frames.Elem().Kind() == reflect.Uintptr
}

// stackTrace calls the method. A Frame is a program counter as in
// runtime.Callers.
func stackTrace(err error) []uintptr {
	frames := reflect.ValueOf(err).MethodByName("StackTrace").Call(nil)[0]
	pcs := make([]uintptr, min(frames.Len(), maxFrames))
	for i := range pcs {
		pcs[i] = uintptr(frames.Index(i).Uint())
	}
	return pcs
}

// callerOfPackage returns the place of the innermost call outside this package,
// as FILE:LINE.
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
