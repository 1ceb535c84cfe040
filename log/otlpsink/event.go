package otlpsink

import (
	"bytes"
)

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
