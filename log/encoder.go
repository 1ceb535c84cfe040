package log

// An encoder is one form of the event's line. It decides on what stands around
// the fields; the fields themselves are written by the methods of Event, which
// know two notations, that of JSON and that of LTSV, since a call through an
// interface for each of them would cost as much as writing it.
//
// Encoders have no state: what varies is in the Event.
type encoder interface {
	// notation tells in which of the two fields are written.
	notation() notation

	// front returns what the line begins with, created_at as it mostly is, for
	// some instant: room of that length is kept for it.
	front() string

	// appendNamespace appends what follows in each line of a logger, up to
	// where the name of the event is appended. In LTSV the level stands before
	// it.
	appendNamespace(b []byte, namespace string) []byte

	// appendError adds one error to e.errorList.
	appendError(e *openEvent, f failure)

	// finish completes the line in e.buf and returns it, cut to e.maxBytes.
	finish(e *openEvent) []byte
}

// A notation is how keys and values are written.
type notation uint8

const (
	notationJSON notation = iota
	notationLTSV
)
