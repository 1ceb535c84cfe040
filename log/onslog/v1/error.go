package log

import "github.com/weirhq/weir/log/onslog/internal/wire"

// EventError is what an event says about an error: Message, StackTrace and
// Data. A pointer to one is an option of [Event].
type EventError = wire.EventError

// EventStackTrace is one frame of the stack of an error: File, Line and
// Function.
type EventStackTrace = wire.EventStackTrace

// Error returns an option with the message of err, the stack of the call of
// Error, at most ten frames of it, and as data what encoding/json makes of err:
// of a struct, or a pointer to one, its exported fields, of anything else an
// object with the key "value". The option of a nil error adds nothing.
func Error(err error) option {
	if err == nil {
		return (*EventError)(nil)
	}
	e := &EventError{Message: err.Error(), StackTrace: wire.Stack(1), Data: err}
	if !wire.IsStruct(err) {
		e.Data = Data{"value": err}
	}
	return e
}
