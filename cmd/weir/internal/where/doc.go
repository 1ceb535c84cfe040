// Package where is the language of weir tail --where: conditions on an event,
// such as
//
//	http.status_code >= 500 && http.duration > 1s
//
// [Compile] parses a condition and checks the kinds of its values, so that a
// condition that could never hold is an error with its column. [Condition.Holds]
// evaluates it for one event.
//
// A comparison with a field that the event does not have is false, and so is one
// of values that cannot be compared. An operation that is not defined for the
// values of an event, such as a text minus a number, is an error for that event.
//
// Texts are in double or single quotes with the escapes of Go, or in backquotes
// without escapes. Numbers may have a unit: 250ms and 1m30s are durations, 64KiB
// and 8MiB are numbers of bytes.
package where
