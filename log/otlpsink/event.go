package otlpsink

import (
	"bytes"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/weirhq/weir/log/traceid"
)

// absent is the offset of a member that an event does not have.
const absent = -1

// event appends the fields of an event. It fails if the line is not a JSON object. If
// canonical, it is faster for lines of package log, but members in another order than theirs
// can count as repeated.
func (e *encoder) event(canonical bool) {
	e.expect('{')
	e.created = 0
	e.traceID, e.spanID = e.traceID[:0], e.spanID[:0]
	v1Error, list := absent, absent
	if begun := canonical && e.canonicalEvent(); !begun || !e.ends() && !e.repeat(&e.repeats.data) {
		v1Error, list = e.eventMembers(begun)
	}
	if e.peek(); e.failed || e.at < len(e.src) {
		e.fail()
		return
	}
	e.putErrors(v1Error, list)
	e.putIDs()
	if e.created == 0 {
		e.created = uint64(e.now().UnixNano())
	} else {
		e.rec = putFixed64(e.rec, recordTime, e.created)
	}
	e.rec = putFixed64(e.rec, recordObservedTime, e.created)
}

// ends reports whether an event has no more members. Then it skips the bracket.
func (e *encoder) ends() bool {
	if string(e.src[e.at:]) != "}" {
		return false
	}
	e.at++
	return true
}

// eventMembers reads the members of an event: those after http if begun. It returns the offsets
// of its errors.
func (e *encoder) eventMembers(begun bool) (v1Error, list int) {
	v1Error, list = absent, absent
	tail, onlyData := e.here(), begun
	var seen uint64
	if begun {
		e.keys, seen = append(e.keys, eventKeys.keys...), eventKeys.bits
	}
	for first := !begun; e.more(&first, '}'); {
		key := e.member(0, &seen)
		onlyData = onlyData && string(key) == "data"
		switch string(key) {
		case "created_at":
			e.createdAt(key)
		case "namespace":
			if v, ok := e.textOr(prefixEvent, key); ok {
				e.spaceRoom = append(e.spaceRoom[:0], v...)
				e.namespace = e.spaceRoom
			}
		case "event":
			if v, ok := e.textOr(prefixEvent, key); ok {
				e.putEvent(v)
			}
		case "trace_id":
			if v, ok := e.textOr(prefixEvent, key); ok {
				e.traceID = append(e.traceID, v...)
			}
		case "span_id":
			if v, ok := e.textOr(prefixEvent, key); ok {
				e.spanID = append(e.spanID, v...)
			}
		case "severity":
			e.severity(key)
		case "http":
			e.object(key, (*encoder).httpMember)
		case "auth":
			e.object(key, (*encoder).authMember)
		case "data":
			e.object(key, (*encoder).dataMember)
		case "error":
			v1Error = e.deferred()
		case "errors":
			list = e.deferred()
		default:
			e.otherMember(key)
		}
	}
	if onlyData && !e.failed {
		e.repeats.data = e.since(tail)
	}
	return v1Error, list
}

// deferred skips a value and returns its offset.
func (e *encoder) deferred() int {
	e.peek()
	begin := e.at
	e.ignore(1)
	return begin
}

// textOr returns the value of a member that is a text. It reports false for any other value,
// for which it appends an attribute with that prefix. The text is valid until the next call.
func (e *encoder) textOr(prefix string, key []byte) (text []byte, ok bool) {
	if e.peek() != '"' {
		e.put(prefix, key)
		return nil, false
	}
	text, e.room = e.str().value(e.room)
	return text, true
}

// put appends an attribute for a member of any type. Its name is the prefix and the key.
func (e *encoder) put(prefix string, key []byte) {
	e.name = append(append(e.name[:0], prefix...), key...)
	putMember(e, recordAttributes, e.name, 1)
}

// object reads a member of an event that is an object.
func (e *encoder) object(key []byte, member func(e *encoder, key []byte)) {
	if e.peek() != '{' {
		e.put(prefixEvent, key)
		return
	}
	e.at++
	first := true
	e.members(&first, keySet{}, member)
}

// members reads the members of an object from those with the keys read on.
func (e *encoder) members(first *bool, read keySet, member func(e *encoder, key []byte)) {
	if !e.more(first, '}') {
		return
	}
	from, seen := len(e.keys), read.bits
	e.keys = append(e.keys, read.keys...)
	for more := true; more; more = e.more(first, '}') {
		member(e, e.member(from, &seen))
	}
	e.keys = e.keys[:from]
}

// otherMember appends a member of an event that the format does not have.
func (e *encoder) otherMember(key []byte) {
	if bytes.IndexByte(key, '.') >= 0 {
		e.put(prefixDotted, key)
	} else {
		e.put(prefixEvent, key)
	}
}

func (e *encoder) dataMember(key []byte) {
	if isReserved(key) {
		e.put(prefixData, key)
	} else {
		putMember(e, recordAttributes, key, 1)
	}
}

func (e *encoder) authMember(key []byte) {
	if string(key) != "identity" {
		e.put(prefixAuth, key)
	} else if v, ok := e.textOr(prefixAuth, key); ok {
		e.putText(attrIdentity, v)
	}
}

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

func (e *encoder) severity(key []byte) {
	begin := e.at
	if isDigit(e.peek()) {
		if i, ok := e.number().integer(); ok && i < int64(len(severities)) {
			e.putSeverity(i)
			return
		}
		e.rewind(begin)
	}
	e.put(prefixEvent, key)
}

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

// A stamp is a time with whole seconds and its text. Most lines of a batch begin with the
// same one.
type stamp struct {
	text [len("2006-01-02T15:04:05")]byte
	unix int64
}

// lastSecond is the last second of which all nanoseconds since 1970 fit into 64 bits.
const lastSecond = (1<<64-1)/1_000_000_000 - 1

// createdAt reads the time of an event into e.created. OTLP cannot have times before 1970 or
// after 2554.
func (e *encoder) createdAt(key []byte) {
	begin := e.at
	if e.peek() == '"' {
		q := e.str()
		if t, ok := e.stamp.parse(q.raw); ok {
			e.created = t
			return
		}
		e.rewind(begin)
	}
	e.put(prefixEvent, key)
}

// parse parses a time of RFC 3339 as nanoseconds since 1970.
func (s *stamp) parse(b []byte) (ns uint64, ok bool) {
	if fraction, ok := bytes.CutPrefix(b, s.text[:]); ok {
		if ns, ok := nanoseconds(fraction); ok {
			return uint64(s.unix)*1e9 + ns, true
		}
	}
	t, err := time.Parse(time.RFC3339Nano, string(b))
	if err != nil || t.Unix() <= 0 || t.Unix() > lastSecond {
		return 0, false
	}
	if len(b) > len(s.text) && b[13] == ':' && b[16] == ':' && b[len(b)-1] == 'Z' {
		s.text, s.unix = [len(s.text)]byte(b), t.Unix()
	}
	return uint64(t.Unix())*1e9 + uint64(t.Nanosecond()), true
}

// nanoseconds parses the end of a time: Z, or a fraction with up to nine digits and Z.
func nanoseconds(b []byte) (ns uint64, ok bool) {
	if string(b) == "Z" {
		return 0, true
	}
	digits := len(b) - len(".Z")
	if digits < 1 || digits > 9 || b[0] != '.' || b[len(b)-1] != 'Z' {
		return 0, false
	}
	for i := range 9 {
		ns *= 10
		if i < digits {
			if !isDigit(b[1+i]) {
				return 0, false
			}
			ns += uint64(b[1+i] - '0')
		}
	}
	return ns, true
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }
