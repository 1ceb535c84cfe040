package log

import (
	"fmt"
	"os"
	"runtime"
	"strings"
)

// checkUse reports a call on an event that has ended. It is called only if
// reportMisuse is true. Then no openEvent is used for a second event, so that
// e.open still knows its output and the place of Send.
func (e Event) checkUse() {
	if e.open == nil || e.open.turn == e.turn {
		return
	}
	err := fmt.Errorf("log: an Event was used at %s after it had ended at %s", callerOfPackage(), e.open.ended)
	if onError := e.open.out.onError; onError != nil {
		onError(err)
	} else {
		fmt.Fprintln(os.Stderr, "WARNING:", err)
	}
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
