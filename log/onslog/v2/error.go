package log

// EventErrors lists the errors of an event. A pointer to an EventErrors is an
// option of [Event].
type EventErrors []EventError

// EventError describes an error in an event.
type EventError struct {
	Message    string            `json:"message,omitempty"`
	StackTrace []EventStackTrace `json:"stack_trace,omitempty"`
	Data       any               `json:"data,omitempty"`
}

// EventStackTrace is one frame of an error's stack.
type EventStackTrace struct {
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
	Function string `json:"function,omitempty"`
}

// FormatErrors returns an option with the message of each non-nil error, and the
// stack of the call of FormatErrors (at most ten frames). The data of a
// [CustomError] is its Data field. An error that is neither a struct nor a
// pointer to one has as data an object with the key "value". Other errors have
// no data.
func FormatErrors(errs []error) option {
	var list EventErrors
	for _, err := range errs {
		if err == nil {
			continue
		}
		e := EventError{Message: err.Error(), StackTrace: stackOf(1)}
		if custom, ok := err.(*CustomError); ok {
			e.Data = custom.ErrorData()
		} else if !isStruct(err) {
			e.Data = Data{"value": err}
		}
		list = append(list, e)
	}
	return &list
}

// CustomError is an error with data that is logged with it. It must be passed
// to the log itself: a CustomError wrapped in another error is not found.
type CustomError struct {
	Message string                 `json:"message"`
	Data    map[string]interface{} `json:"data"`
}

// Error returns the message.
func (c *CustomError) Error() string { return c.Message }

// ErrorData returns the data without copying it.
func (c CustomError) ErrorData() map[string]interface{} { return c.Data }
