// Package wire is what log/onslog/v1 and v2 share: the options of an event,
// their encoding, and the way of the line to its destination.
//
// Two things are unusual here, and both serve the same end: an event costs its
// caller no more than what goes into Data.
//
//   - Options are told apart by a type switch, never by a call of a method,
//     and [Event] holds pointers to them no longer than the call that logs it
//     lasts. So the compiler keeps options, and the slice that passes them, on
//     the stack of the caller.
//   - The line is written by an encoder of its own. It knows what is common;
//     what it cannot write, it leaves to encoding/json, value by value, and
//     when a value fails there as well, the whole event: whether encoding/json
//     can write it, and what it says when it cannot, is the original's
//     behaviour.
package wire
