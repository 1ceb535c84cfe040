// Package log is a rewrite of github.com/ONSdigital/log.go/log, version 1.1.0.
// A service changes only the import path; its events stay the same, byte for
// byte, at a fraction of the cost.
//
//   - import "github.com/ONSdigital/log.go/log"
//   - import "github.com/weirhq/weir/log/onslog/v1"
//
// A line is the encoding/json form of [EventData], with "<", ">" and "&" escaped
// and the keys of Data sorted. The trace id is the request id that the request
// package of dp-net stores in a context. This package finds it without importing
// dp-net: the first context with an id must keep its parent, or an
// *http.Request, in a field; after that, any context works. As with the
// original, importing the package turns the output of the standard library's log
// into events, and HUMAN_LOG=1 writes all events as indented JSON, in colour on
// a terminal.
//
// Stack frames in this package have its own function and file names instead of
// the original's.
//
// The package replaces the original; it does not fix its weaknesses. Control
// characters that JSON does not escape (DEL, U+0080 to U+009F) are written to
// the line and can reach a terminal, and the length of a line is not limited.
// New code should use package log of this module, which has neither weakness.
//
// The package differs from the original only where the original panics, stops
// the process or loses something:
//
//   - A nil option, Error(nil), and an error that is a nil pointer with a working
//     Error method do not panic.
//   - If the destination writes only part of a line, the fragment is ended with
//     a newline before the next line, so that no event is joined to a fragment.
//   - If the destination and its fallback both reject a line, the process
//     continues; a full disk should not stop a service. The original exits with
//     1 without a message. The warning "log lines lost", with the number in
//     "lines", follows the next line that is written.
//   - The original's check for duplicate options, meant for tests, is left out.
//     It has had no effect since Go 1.13, which registers the test flag that it
//     looks for later than before.
//   - The destination can be set; see [SetDestination].
//   - A caller's type that embeds Data or another option is not an option. It is
//     ignored, and an additional event reports this.
package log
