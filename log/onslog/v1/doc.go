// Package log is github.com/ONSdigital/log.go/log, version 1.1.0, written anew:
// a service changes the import path and nothing else, and its events stay what
// they were, byte for byte, at a fraction of the cost.
//
//   - import "github.com/ONSdigital/log.go/log"
//   - import "github.com/weirhq/weir/log/onslog/v1"
//
// A line is what encoding/json makes of [EventData], "<", ">" and "&" escaped,
// keys of Data in order. The trace id is the request id that dp-net's request
// package puts into a context, found without importing it. The first context
// with an id may be of any type that keeps the context it was made from, or an
// *http.Request, in a field; after it, any context will do. As with the
// original, to import this package is to have what the standard library's log
// writes come out as events, and HUMAN_LOG=1 makes all of them indented JSON,
// in colours on a terminal.
//
// Stacks that pass through this package name its functions and files where the
// original has its own.
//
// It stands in for the original; it does not mend it. Control characters that
// JSON does not escape, DEL and those from U+0080 to U+009F, reach the line and
// the terminal that shows it, and a line has no greatest length. Package log of
// this module does better, and new code wants that one.
//
// What differs, all of it where the original panics, stops or loses something:
//
//   - An option that is nil, Error(nil), and an error that is a nil pointer but
//     has a message do not panic.
//   - A line that the destination took a part of is ended before the next one,
//     so that no event is glued to a fragment.
//   - When neither the destination nor its fallback takes a line, the process
//     goes on, where the original exits with 1 and no word of why: a full disk
//     is no reason for a service to stop. The first line that is taken again is
//     followed by a warning, "log lines lost", with the number in "lines".
//   - The check for options of one kind, which the original has for tests, is
//     not there: it has been off since Go 1.13, which sets the flag that it
//     looks for later than it looks.
//   - The destination can be set; see [SetDestination].
//   - A type of a caller's own that embeds Data or another option is no option:
//     another event says that it was ignored.
package log
