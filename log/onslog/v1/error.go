package log

import "github.com/weirhq/weir/log/onslog/internal/wire"

// EventError describes an error in an event: Message, StackTrace and Data. A
// pointer to an EventError is an option of [Event].
type EventError = wire.EventError

// EventStackTrace is one frame of an error's stack: File, Line and Function.
type EventStackTrace = wire.EventStackTrace

// Error returns an option with the message of err, the stack of the call of
// Error (at most ten frames), and err itself as data, marshalled by
// encoding/json: a struct or a pointer to one directly, anything else as an
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
