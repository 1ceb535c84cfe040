package log

import "github.com/weirhq/weir/log/onslog/internal/wire"

// EventErrors are the errors of an event. A pointer to them is an option of
// [Event].
type EventErrors = wire.EventErrors

// EventError is what an event says about an error: Message, StackTrace and
// Data.
type EventError = wire.EventError

// EventStackTrace is one frame of the stack of an error: File, Line and
// Function.
type EventStackTrace = wire.EventStackTrace

// FormatErrors returns an option with the message of each error that is not
// nil, and the stack of the call of FormatErrors, at most ten frames of it. An
// error has data when it is a [CustomError], namely that one's, or neither a
// struct nor a pointer to one: an object with the key "value".
func FormatErrors(errs []error) option {
	var list EventErrors
	for _, err := range errs {
		if err == nil {
			continue
		}
		e := EventError{Message: err.Error(), StackTrace: wire.Stack(1)}
		if custom, ok := err.(*CustomError); ok {
			e.Data = custom.ErrorData()
		} else if !wire.IsStruct(err) {
			e.Data = Data{"value": err}
		}
		list = append(list, e)
	}
	return &list
}

// CustomError is an error with data, which the event that it is logged with
// tells. It has to be logged itself: one that is wrapped is not looked for.
type CustomError struct {
	Message string                 `json:"message"`
	Data    map[string]interface{} `json:"data"`
}

// Error returns the message.
func (c *CustomError) Error() string { return c.Message }

// ErrorData returns the data, not a copy of it.
func (c CustomError) ErrorData() map[string]interface{} { return c.Data }
