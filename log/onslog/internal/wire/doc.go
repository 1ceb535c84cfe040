// Package wire contains the options of an event of log/onslog/v2, their encoding,
// and the output of lines.
//
// Two unusual decisions keep the allocations of an event down to the values in
// Data:
//
//   - Options are distinguished by a type switch, never by a method call, and
//     [Event] holds pointers to them only during the call that logs it. So the
//     compiler keeps the options, and the slice that passes them, on the
//     caller's stack.
//   - The package has its own encoder, which handles the common types. It passes
//     any other value to encoding/json. If that fails too, v2 passes the
//     whole event to encoding/json, because the original's behaviour is defined
//     by whether encoding/json can write the event, and with which error.
package wire
