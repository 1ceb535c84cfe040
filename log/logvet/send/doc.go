// Package send has an analyzer for programs that log with package log of Weir.
// It checks that an event is sent, once, and not used afterwards.
//
// It reports
//
//   - an event without Send: logger.Info("x").Str("k", v) as a statement, or a
//     variable that a path through the function drops before its Send;
//   - a Logger that is never taken: logger.With().Str("k", v) as a statement;
//   - a call on an event after its Send, such as a second Send or a field.
//
// It follows one event through one function, along every path, and takes two
// branches on the same condition as one decision. It reports nothing about an
// event that leaves the function: one that is returned, stored, captured by a
// function literal or passed to a goroutine or to a function that returns no
// Event. A function that takes an Event and returns one, as helpers that add
// fields do, is taken to return the same event.
package send
