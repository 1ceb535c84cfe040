package log

import (
	"bytes"
	stdlog "log"
)

// Capture redirects a logger of the standard library: each of its messages
// becomes an event of that name and level, with the text as the field
// "message", and without a caller, which is not known. The function that it
// returns gives std back the writer, prefix and flags that it had. Goroutines
// may use std meanwhile; what they log just then may have the old prefix.
//
// The logger must not write to std itself: a message would never end.
//
// It serves a whole program whose packages write to the default logger,
//
//	restore := log.Capture(stdlog.Default(), logger, log.LevelInfo, "message of a package")
//
// and a server that takes such a logger for its complaints:
//
//	server.ErrorLog = stdlog.New(io.Discard, "", 0)
//	log.Capture(server.ErrorLog, logger, log.LevelWarn, "http server complaint")
func Capture(std *stdlog.Logger, to *Logger, level Level, event string) (restore func()) {
	if to != nil && to.callers { // it would be a line of this file
		own := *to
		own.callers = false
		to = &own
	}
	writer, prefix, flags := std.Writer(), std.Prefix(), std.Flags()
	std.SetOutput(&capture{to, level, event})
	std.SetPrefix("")
	std.SetFlags(0) // the event has an instant of its own
	return func() {
		std.SetOutput(writer)
		std.SetPrefix(prefix)
		std.SetFlags(flags)
	}
}

// A capture makes an event of each Write, which is one message.
type capture struct {
	logger *Logger
	level  Level
	event  string
}

// Write implements io.Writer.
func (c *capture) Write(message []byte) (int, error) {
	c.logger.Log(c.level, c.event).Str("message", string(bytes.TrimSuffix(message, []byte("\n")))).Send()
	return len(message), nil
}
