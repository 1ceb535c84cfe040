package otlpsink

import (
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/weirhq/weir/log/record"
)

// An encoder converts batches of lines. It keeps its memory from batch to batch.
type encoder struct {
	signal *signal

	now  func() time.Time
	host string // the name of this machine; may be empty

	buf     []byte // the request
	service []byte // the namespace of the last record
	id      []byte // of a line or of a trace
	stack   []byte // of an error
	reader  record.Reader
	rest    rest
}

// A signal is a kind of OTLP data, into which a Destination encodes its lines.
type signal struct {
	path  string // of the requests
	scope string // the name of the scope, in all requests
	items string // for messages

	attributes protowire.Number // the field of a record that has an attribute
	hasUID     bool             // whether a record has an attribute that identifies it

	// event and text append the fields of the record of an event, and those of a line that is not one.
	event func(e *encoder, members []record.Node)
	text  func(e *encoder, line string)
}

// A rest is what an encoder keeps of an event until it has read all members.
type rest struct {
	created         uint64 // in nanoseconds since 1970; 0 if it is not known
	traceID, spanID string
	v1Error, errors []record.Node // nil if the event does not have them
	span            spanRest
}

// A spanRest is the part of a span that an encoder keeps until it has read all members.
type spanRest struct {
	started, ended uint64 // in nanoseconds since 1970; 0 if they are not known
	parent, kind   string
	failed         bool // it has an error.type
}

// each calls f for each member of an object, with the Nodes within it. If a key is repeated, it
// does so for the last one only, as encoding/json reads it.
func (e *encoder) each(members []record.Node, f func(e *encoder, m []record.Node)) {
	repeated := mayRepeat(members)
	for i, next := 0, 0; i < len(members); i = next {
		next = i + 1 + members[i].Inner
		if !repeated || !hasKey(members[next:], members[i].Key) {
			f(e, members[i:next])
		}
	}
}

// mayRepeat reports whether some members may have the same key. It is true for all objects with
// repeated keys, and for none of the format without them.
func mayRepeat(members []record.Node) bool {
	var seen uint64
	for i := 0; i < len(members); i += 1 + members[i].Inner {
		bit := uint64(1)
		if key := members[i].Key; key != "" {
			n := len(key)
			bit <<= (n + 4*int(key[0]) + 2*int(key[n-1])) % 64
		}
		if seen&bit != 0 {
			return true
		}
		seen |= bit
	}
	return false
}

func hasKey(members []record.Node, key string) bool {
	for i := 0; i < len(members); i += 1 + members[i].Inner {
		if members[i].Key == key {
			return true
		}
	}
	return false
}

// validText returns a text as valid UTF-8. Like encoding/json, it replaces each invalid byte.
func validText(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}
