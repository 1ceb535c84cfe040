package otlpsink

import (
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/weirhq/weir/log/traceid"
)

// putEvent appends the name of the event.
func (e *encoder) putEvent(name []byte) {
	e.rec = putTextValue(e.rec, recordBody, name)
	e.rec = putText(e.rec, recordEventName, name)
}

// putText appends an attribute with a text.
func (e *encoder) putText(name string, value []byte) {
	e.rec = putTextPair(e.rec, recordAttributes, name, value)
}

// severities are by the number in the line.
var severities = [...]struct {
	number uint64
	text   string
}{{21, "FATAL"}, {17, "ERROR"}, {13, "WARN"}, {9, "INFO"}, {5, "DEBUG"}}

func (e *encoder) putSeverity(i int64) {
	e.rec = putVarint(e.rec, recordSeverityNumber, severities[i].number)
	e.rec = putText(e.rec, recordSeverityText, severities[i].text)
}

// putIDs appends the ids of trace and span. OTLP requires those of W3C Trace Context. Any other
// trace id becomes an attribute, and the record has the trace-id that a front door makes of it for
// the traceparent. A span belongs to a trace.
func (e *encoder) putIDs() {
	hasTrace := e.putTraceID()
	if !hasTrace && len(e.traceID) > 0 {
		e.w3c = traceid.AppendW3C(e.w3c[:0], string(e.traceID))
		hasTrace = e.putID(recordTraceID, e.w3c, 16)
		e.putText(prefixEvent+"trace_id", e.traceID)
	}
	if len(e.spanID) > 0 && !(hasTrace && e.putID(recordSpanID, e.spanID, 8)) {
		e.putText(prefixEvent+"span_id", e.spanID)
	}
}

// putTraceID appends the id of the trace, and reports whether it is one of W3C Trace Context.
func (e *encoder) putTraceID() bool {
	r := &e.repeats
	if len(e.traceID) == 32 && string(e.traceID) == string(r.traceID) {
		e.rec = putText(e.rec, recordTraceID, r.trace[:])
		return true
	}
	if !e.putID(recordTraceID, e.traceID, 16) {
		return false
	}
	r.traceID = append(r.traceID[:0], e.traceID...)
	r.trace = [16]byte(e.rec[len(e.rec)-16:])
	return true
}

// putID appends an id of size bytes, and reports whether it is one: hexadecimal digits in
// lower case, not all of them 0.
func (e *encoder) putID(field protowire.Number, id []byte, size int) bool {
	if len(id) != 2*size {
		return false
	}
	n := len(e.rec)
	e.rec = putLength(e.rec, field, size)
	var all, invalid byte
	for i := 0; i < len(id); i += 2 {
		high, low := hexDigits[id[i]], hexDigits[id[i+1]]
		e.rec = append(e.rec, high<<4|low&0xf)
		all |= high | low
		invalid |= (high | low) & notHex
	}
	if all == 0 || invalid != 0 {
		e.rec = e.rec[:n]
		return false
	}
	return true
}

const notHex = 0x80

// hexDigits are the values of hexadecimal digits in lower case, and notHex for other bytes.
var hexDigits = func() (table [256]byte) {
	for i := range table {
		table[i] = notHex
		if n := strings.IndexByte("0123456789abcdef", byte(i)); n >= 0 {
			table[i] = byte(n)
		}
	}
	return table
}()
