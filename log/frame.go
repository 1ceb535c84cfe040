package log

import (
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/weirhq/weir/log/internal/text"
)

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
