package log

// An encoder writes the parts of a line around the fields. The methods of Event
// write the fields themselves, in the notation of JSON or LTSV, because an
// interface call per field would cost as much as writing it.
//
// Encoders have no state; the Event has it.
type encoder interface {
	// notation returns the notation of the fields.
	notation() notation

	// front returns the beginning of a line with created_at in its longest form.
	// Only its length matters: the buffer reserves that many bytes.
	front() string

	// appendNamespace appends the constant text of a logger, up to the name of
	// the event. In LTSV the level is before this text.
	appendNamespace(b []byte, namespace string) []byte

	// appendError adds one error to e.errorList.
	appendError(e *openEvent, f failure)

	// finish completes the line in e.buf and returns it, at most e.maxBytes
	// long.
	finish(e *openEvent) []byte
}

// A notation is the syntax of keys and values.
type notation uint8

const (
	noNotation notation = iota
	notationJSON
	notationLTSV
)
