package log

import (
	"fmt"
	"io"
	"time"

	"github.com/francoispqt/onelog"
)

// openOnelog adds a time by a hook and the stack as a string, because onelog has neither.
func openOnelog(w io.Writer) logger {
	onelog.MsgKey("event")
	l := onelog.New(w, onelog.INFO|onelog.WARN|onelog.ERROR|onelog.FATAL).Hook(func(e onelog.Entry) {
		e.String("created_at", time.Now().UTC().Format(time.RFC3339Nano))
		e.String("namespace", namespace)
	})
	return logger{failed: func(err *traced) {
		l.ErrorWith(failed).Err("error", err).String("stack", fmt.Sprintf("%+v", err)).Write()
	}}
}
