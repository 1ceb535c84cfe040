package log

import (
	"bytes"
	stdlog "log"
)

// Capture redirects a logger of the standard library. Each of its messages
// becomes an event with the given name and level, the text as the field
// "message", and no caller, which is unknown. The returned function restores
// the writer, prefix and flags of std. Other goroutines may use std meanwhile;
// the messages of that moment may have the old prefix.
//
// The logger must not write to std itself, which would be an endless loop.
//
// Use it for a whole program with packages that write to the default logger,
//
//	restore := log.Capture(stdlog.Default(), logger, log.LevelInfo, "message of a package")
//
// or for a server with an error log:
//
//	server.ErrorLog = stdlog.New(io.Discard, "", 0)
//	log.Capture(server.ErrorLog, logger, log.LevelWarn, "http server complaint")
func Capture(std *stdlog.Logger, to *Logger, level Level, event string) (restore func()) {
	if to != nil && to.callers { // the caller would be a line of this file
		own := *to
		own.callers = false
		to = &own
	}
	writer, prefix, flags := std.Writer(), std.Prefix(), std.Flags()
	std.SetOutput(&capture{to, level, event})
	std.SetPrefix("")
	std.SetFlags(0) // the event has its own time
	return func() {
		std.SetOutput(writer)
		std.SetPrefix(prefix)
		std.SetFlags(flags)
	}
}

// A capture writes an event for each Write, which has one message.
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
