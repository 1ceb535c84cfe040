package otlpsink

import (
	"bytes"
	"math/bits"

	"google.golang.org/protobuf/encoding/protowire"
)

// Package log writes the members of an event in a fixed order and without white space. The
// functions of this file read such members from the beginning of an object, by comparing the
// text with the expected keys. They stop before the first member that is different, or whose
// value is not simple; the general functions read the rest. This takes half of the time.

// A kind is the type of a simple value.
type kind uint8

const (
	text    kind = iota // ASCII without escapes
	integer             // of up to 18 digits
)

// A member is a member of http with an attribute.
type member struct {
	start string // the text before the value, with the comma before the key
	code  uint16 // two bytes of start, in which most members differ
	name  string // of the attribute
	head  string // the encoded key of the attribute, and the tag of its value
	kind  kind
	put   func(e *encoder, value []byte) // instead of name, if that depends on the value; else nil
}

// Indices in httpMembers.
const (
	methodMember    = 1
	hostMember      = 3
	pathMember      = 5
	startedAtMember = 7
	routeMember     = 11
)

// httpMembers are in the order of the format.
var httpMembers = func() []member {
	list := []member{
		{start: "status_code", name: attrStatusCode, kind: integer},
		{start: "method", put: (*encoder).putMethod},
		{start: "scheme", name: attrScheme},
		{start: "host", name: attrHost},
		{start: "port", name: attrPort, kind: integer},
		{start: "path", name: attrPath},
		{start: "query", name: attrQuery},
		{start: "started_at", name: prefixHTTP + "started_at"},
		{start: "ended_at", name: prefixHTTP + "ended_at"},
		{start: "duration", name: prefixHTTP + "duration", kind: integer},
		{start: "response_content_length", name: attrResponseSize, kind: integer},
		{start: "route", name: attrRoute},
		{start: "client", name: attrClient},
		{start: "protocol", put: (*encoder).putProtocol},
		{start: "user_agent", name: attrUserAgent},
		{start: "referer", put: (*encoder).putReferer},
		{start: "request_content_length", name: attrRequestSize, kind: integer},
	}
	for i, m := range list {
		key := m.start
		m.start = `,"` + key + `":`
		if m.kind == text {
			m.start += `"`
		}
		m.head = string(putLength(putText(nil, keyValueKey, m.name), keyValueValue, 0)[:textSize(len(m.name))+1])
		httpKeys.add([]byte(key))
		list[i] = m
	}
	list[0].start = list[0].start[1:]
	for i := range list {
		list[i].code = codeOf(list[i].start[2:])
	}
	return list
}()

// codeOf returns the first two bytes of a text.
func codeOf[T bytesOf](text T) uint16 { return uint16(text[0]) | uint16(text[1])<<8 }

// The keys that the functions of this file read. They count as read even if an object does not
// have them.
var (
	httpKeys  keySet
	eventKeys = func() (s keySet) {
		for _, key := range []string{"created_at", "namespace", "event", "trace_id", "span_id", "severity", "http"} {
			s.add([]byte(key))
		}
		return s
	}()
)

// canonicalEvent reads the first members of an event, up to http. It reports whether it has
// read any.
func (e *encoder) canonicalEvent() bool {
	if !e.canonicalTime() {
		return false
	}
	if !e.repeatOpening() {
		opened := e.here()
		if v, ok := e.textAfter(`,"namespace":"`); ok {
			e.namespace = v
		}
		if v, ok := e.textAfter(`,"event":"`); ok {
			e.putEvent(v)
			e.repeats.addOpening(opening{e.since(opened), e.namespace})
		}
	}
	if e.repeatTraceID() {
		e.traceID = append(e.traceID, e.repeats.traceID...)
	} else if v, ok := e.textAfter(traceIDStart); ok {
		e.traceID = append(e.traceID, v...)
	}
	if v, ok := e.textAfter(`,"span_id":"`); ok {
		e.spanID = append(e.spanID, v...)
	}
	if rest, ok := bytes.CutPrefix(e.src[e.at:], []byte(`,"severity":`)); ok && len(rest) > 1 &&
		rest[0]-'0' < byte(len(severities)) && (rest[1] == ',' || rest[1] == '}') {
		e.putSeverity(int64(rest[0] - '0'))
		e.at += len(`,"severity":0`)
	}
	if bytes.HasPrefix(e.src[e.at:], []byte(`,"http":{"status_code":`)) {
		e.at += len(`,"http":{`)
		e.canonicalHTTP()
	}
	return true
}

// The texts before values.
const (
	createdAtStart = `"created_at":"`
	traceIDStart   = `,"trace_id":"`
)

// canonicalTime reads the time of the event, and reports whether it is one.
func (e *encoder) canonicalTime() (ok bool) {
	const start = len(createdAtStart)
	const end = start + len(e.stamp.text)
	if rest := e.src[e.at:]; len(rest) > end && string(rest[:start]) == createdAtStart &&
		string(rest[start:end]) == string(e.stamp.text[:]) {
		n := bytes.IndexByte(rest[end:min(len(rest), end+len(`.123456789Z"`))], '"')
		if ns, ok := nanoseconds(rest[end : end+max(n, 0)]); ok {
			e.created = uint64(e.stamp.unix)*1e9 + ns
			e.at += end + n + 1
			return true
		}
	}
	begin := e.at
	v, ok := e.textAfter(createdAtStart)
	if ok {
		e.created, ok = e.stamp.parse(v)
	}
	if !ok {
		e.at = begin
	}
	return ok
}

// repeatTraceID skips the id of the trace, if it is that of the last line with one, and reports
// whether it is.
func (e *encoder) repeatTraceID() bool {
	const start, end = len(traceIDStart), len(traceIDStart) + 32
	rest := e.src[e.at:]
	if len(rest) <= end || rest[end] != '"' || string(rest[start:end]) != string(e.repeats.traceID) ||
		string(rest[:start]) != traceIDStart {
		return false
	}
	e.at += end + 1
	return true
}

// textAfter returns the value of a member that is a simple text, if the member begins with
// start.
func (e *encoder) textAfter(start string) (value []byte, ok bool) {
	if rest := e.src[e.at:]; len(rest) < len(start) || string(rest[:len(start)]) != start {
		return nil, false
	}
	begin := e.at + len(start)
	end := simpleEnd(e.src, begin)
	if end < 0 {
		return nil, false
	}
	e.at = end + 1
	return e.src[begin:end], true
}

// simpleEnd returns the offset of the quote at the end of a simple text, or -1 if the text is
// not simple.
func simpleEnd(src []byte, at int) int {
	for ; at+8 <= len(src); at += 8 {
		w := word(src[at:])
		if m := specials(w) | w&tops; m != 0 {
			at += bits.TrailingZeros64(m) >> 3
			if src[at] == '"' {
				return at
			}
			return -1
		}
	}
	for ; at < len(src); at++ {
		switch b := src[at]; {
		case b == '"':
			return at
		case b == '\\' || b < ' ' || b >= 0x80:
			return -1
		}
	}
	return -1
}

// canonicalHTTP reads http, after its bracket.
func (e *encoder) canonicalHTTP() {
	first, client := e.canonicalMembers()
	if client.exists() {
		e.repeats.client = e.since(client)
	}
	e.members(&first, httpKeys, (*encoder).httpMember)
}

// canonicalMembers reads the first members of http. It reports whether it has read none, and
// returns the beginning of those from route on, unless it has copied them.
func (e *encoder) canonicalMembers() (first bool, client start) {
	first = true
	var target start
	for i := 0; i < len(httpMembers); i++ {
		m := &httpMembers[i]
		rest := e.src[e.at:]
		if len(rest) > 0 && rest[0] == '}' {
			break
		}
		if len(rest) < len(m.start) || codeOf(rest[2:]) != m.code || string(rest[:len(m.start)]) != m.start {
			continue
		}
		switch i {
		case methodMember:
			target = e.here()
			if e.repeat(e.repeats.target(e.traceID)) {
				target, i = start{}, startedAtMember
				continue
			}
			if e.repeat(&e.repeats.host) {
				i = hostMember // a port may follow
				continue
			}
		case pathMember:
			if target.exists() {
				e.repeats.host = e.since(target)
			}
		case routeMember:
			client = e.here()
			if e.repeat(&e.repeats.client) {
				client = start{} // other members may follow
				continue
			}
		}
		begin := e.at + len(m.start)
		if m.kind == integer {
			n, end := digits(e.src, begin)
			if end == begin {
				break
			}
			e.at = end
			if n != 0 {
				e.putInt(m, n)
			}
		} else {
			end := simpleEnd(e.src, begin)
			if end < 0 {
				break
			}
			e.at = end + 1
			e.putSimple(m, e.src[begin:end])
		}
		first = false
		if i == startedAtMember && target.exists() {
			*e.repeats.target(e.traceID) = e.since(target)
		}
	}
	return first, client
}

// digits parses an integer of up to 18 digits, which ends with its member. If it is not one,
// end is begin.
func digits(src []byte, begin int) (n uint64, end int) {
	for end = begin; end < len(src) && isDigit(src[end]); end++ {
		n = n*10 + uint64(src[end]-'0')
	}
	if end == len(src) || src[end] != ',' && src[end] != '}' || end-begin > 18 || src[begin] == '0' && end-begin != 1 {
		return 0, begin
	}
	return n, end
}

// putInt appends an attribute with a number.
func (e *encoder) putInt(m *member, n uint64) {
	size := 1 + protowire.SizeVarint(n)
	e.rec = append(e.rec, tag(recordAttributes, protowire.BytesType), byte(len(m.head)+1+size))
	e.rec = append(e.rec, m.head...)
	e.rec = append(e.rec, byte(size), tag(anyInt, protowire.VarintType))
	e.rec = protowire.AppendVarint(e.rec, n)
}

// putSimple appends the attributes for a text.
func (e *encoder) putSimple(m *member, value []byte) {
	size := len(m.head) + 3 + len(value)
	switch {
	case m.put != nil:
		m.put(e, value)
	case size < 0x80: // all lengths have one byte
		e.rec = append(e.rec, tag(recordAttributes, protowire.BytesType), byte(size))
		e.rec = append(e.rec, m.head...)
		e.rec = append(e.rec, byte(2+len(value)), tag(anyString, protowire.BytesType), byte(len(value)))
		e.rec = append(e.rec, value...)
	default:
		e.putText(m.name, value)
	}
}
