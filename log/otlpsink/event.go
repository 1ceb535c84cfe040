package otlpsink

import (
	"encoding/hex"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/weirhq/weir/log/record"
	"github.com/weirhq/weir/log/traceid"
)

// logRecord appends the fields of the record of an event.
func (e *encoder) logRecord(members []record.Node) {
	e.rest = rest{}
	e.each(members, (*encoder).member)
	e.putErrors()
	e.putIDs(recordTraceID, recordSpanID)
	observed := e.rest.created
	if observed == 0 {
		observed = uint64(e.now().UnixNano())
	} else {
		e.buf = appendFixed64(e.buf, recordTime, observed)
	}
	e.buf = appendFixed64(e.buf, recordObservedTime, observed)
}

// logText appends the fields of the record of a line that is not an event.
func (e *encoder) logText(line string) {
	e.buf = appendFixed64(e.buf, recordObservedTime, uint64(e.now().UnixNano()))
	e.buf = appendTextValue(e.buf, recordBody, line)
}

func (e *encoder) member(m []record.Node) {
	key := m[0].Key
	text, isText := m[0].Text()
	switch {
	case isText && e.textMember(key, text):
	case m[0].Value[0] == '{' && e.objectMember(key, m[1:]):
	case key == "severity" && e.severity(m[0].Value):
	case key == "error":
		e.rest.v1Error = m
	case key == "errors":
		e.rest.errors = m
	case strings.Contains(key, "."):
		e.put(prefixDotted, m)
	default:
		e.put(prefixEvent, m)
	}
}

// textMember reads a member of an event that is a text. It reports false if the format has no such
// text.
func (e *encoder) textMember(key, text string) bool {
	switch key {
	case "namespace": // an attribute of the resource
	case "created_at":
		return e.createdAt(text)
	case "event":
		e.buf = appendTextValue(e.buf, recordBody, text)
		e.buf = appendText(e.buf, recordEventName, text)
	case "trace_id":
		e.rest.traceID = text
	case "span_id":
		e.rest.spanID = text
	default:
		return false
	}
	return true
}

// objectMember is textMember for an object.
func (e *encoder) objectMember(key string, members []record.Node) bool {
	switch key {
	case "http":
		e.each(members, (*encoder).http)
	case "auth":
		e.each(members, (*encoder).auth)
	case "data":
		e.each(members, (*encoder).data)
	default:
		return false
	}
	return true
}

// lastSecond is the last second of which all nanoseconds since 1970 fit into 64 bits.
const lastSecond = (1<<64-1)/1_000_000_000 - 1

// createdAt reads the time of an event.
func (e *encoder) createdAt(text string) (ok bool) {
	created, ok := timeOf(text)
	if ok {
		e.rest.created = created
	}
	return ok
}

// timeOf returns a time in nanoseconds since 1970. OTLP cannot have times before 1970 or after 2554.
func timeOf(text string) (nanoseconds uint64, ok bool) {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil || t.Unix() <= 0 || t.Unix() > lastSecond {
		return 0, false
	}
	return uint64(t.Unix())*1e9 + uint64(t.Nanosecond()), true
}

// severities are by the number in the line.
var severities = [...]struct {
	number uint64
	text   string
}{{21, "FATAL"}, {17, "ERROR"}, {13, "WARN"}, {9, "INFO"}, {5, "DEBUG"}}

func (e *encoder) severity(v record.Value) bool {
	if len(v) != 1 || int(v[0]-'0') >= len(severities) {
		return false
	}
	s := severities[v[0]-'0']
	e.buf = appendVarint(e.buf, recordSeverityNumber, s.number)
	e.buf = appendText(e.buf, recordSeverityText, s.text)
	return true
}

func (e *encoder) data(m []record.Node) {
	if isReserved(m[0].Key) {
		e.put(prefixData, m)
	} else {
		e.put("", m)
	}
}

func (e *encoder) auth(m []record.Node) {
	if text, ok := m[0].Text(); ok && m[0].Key == "identity" {
		e.putText("", attrIdentity, text)
	} else {
		e.put(prefixAuth, m)
	}
}

// putIDs appends the ids of trace and span in two fields. OTLP requires those of W3C Trace Context. Any other
// trace id becomes an attribute, and the record has the trace-id that a front door makes of it for
// the traceparent. A span belongs to a trace.
func (e *encoder) putIDs(trace, span protowire.Number) {
	traceID, spanID := e.rest.traceID, e.rest.spanID
	hasTrace := false
	if traceID != "" {
		e.id = traceid.AppendW3C(e.id[:0], traceID)
		hasTrace = e.putID(trace, 16)
		if string(e.id) != traceID {
			e.putText(prefixEvent, "trace_id", traceID)
		}
	}
	if spanID != "" {
		e.id = append(e.id[:0], spanID...)
		if !hasTrace || strings.ContainsAny(spanID, "ABCDEF") || !e.putID(span, 8) {
			e.putText(prefixEvent, "span_id", spanID)
		}
	}
}

// putID appends e.id, an id of size bytes, and reports whether it is one: hexadecimal digits, not
// all of them 0.
func (e *encoder) putID(field protowire.Number, size int) bool {
	if len(e.id) != 2*size {
		return false
	}
	var id [16]byte
	n, err := hex.Decode(id[:], e.id)
	if err != nil || id == [16]byte{} {
		return false
	}
	e.buf = appendText(e.buf, field, id[:n])
	return true
}
