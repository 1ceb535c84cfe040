package front

import (
	"bytes"
	stdlog "log"
)

// errorLog returns a logger for net/http's own complaints that turns each into
// an event.
func (d *Door) errorLog() *stdlog.Logger {
	return stdlog.New(complaints{d}, "", 0)
}

type complaints struct{ door *Door }

// Write implements io.Writer: one call is one complaint.
func (c complaints) Write(p []byte) (int, error) {
	c.door.log.Warn("http server complaint").Str("message", string(bytes.TrimSpace(p))).Send()
	return len(p), nil
}
