package otlpsink

import (
	"bytes"
	"encoding/json"

	"github.com/weirhq/weir/log/stream"
)

// instrumentation is the name of the scope of all records.
const instrumentation = "github.com/weirhq/weir/log"

// request returns the ExportLogsServiceRequest of a batch. It is valid until the next call.
func (e *encoder) request(b stream.Batch) []byte {
	e.rec, e.service = e.rec[:0], e.service[:0]
	if b.Count == 0 {
		return e.rec
	}
	var resource, scope int
	rest := b.Lines
	e.repeats.lines, e.repeats.line = b.Lines, 0
	e.repeats.forget()
	for i := range b.Count {
		line := rest
		if end := bytes.IndexByte(rest, '\n'); end >= 0 {
			line, rest = rest[:end], rest[end+1:]
		}
		e.setUID(b, i)
		begin := len(e.rec)
		e.rec, e.begin = openLong(e.rec, scopeLogsRecords)
		e.record(line)
		shutLong(e.rec, e.begin)
		if i == 0 || !bytes.Equal(e.namespace, e.service) {
			e.moved = append(e.moved[:0], e.rec[begin:]...)
			e.rec = e.rec[:begin]
			if i > 0 {
				e.closeService(resource, scope)
			}
			resource, scope = e.openService()
			e.rec = append(e.rec, e.moved...)
			e.repeats.forget()
		}
		e.repeats.line += len(line) + 1
	}
	e.closeService(resource, scope)
	return e.rec
}

// openService appends the beginning of a ResourceLogs for e.namespace, and of its ScopeLogs. It
// returns the offsets of their contents.
func (e *encoder) openService() (resource, scope int) {
	e.service = append(e.service[:0], e.namespace...)
	e.rec, resource = openLong(e.rec, requestResourceLogs)
	var content int
	e.rec, content = open(e.rec, resourceLogsResource)
	if len(e.service) > 0 {
		e.rec = putTextPair(e.rec, resourceAttributes, attrServiceName, e.service)
	}
	if e.host != "" {
		e.rec = putTextPair(e.rec, resourceAttributes, attrHostName, e.host)
	}
	e.rec = shut(e.rec, content)
	e.rec, scope = openLong(e.rec, resourceLogsScopeLogs)
	e.rec, content = open(e.rec, scopeLogsScope)
	e.rec = shut(putText(e.rec, scopeName, instrumentation), content)
	return resource, scope
}

func (e *encoder) closeService(resource, scope int) {
	shutLong(e.rec, scope)
	shutLong(e.rec, resource)
}

// record appends the fields of the record of a line to e.rec, and sets e.namespace.
func (e *encoder) record(line []byte) {
	e.start(line)
	e.event(true)
	if e.repeated || e.failed {
		e.repeats.forget() // the record is overwritten
	}
	if e.repeated { // perhaps
		e.start(line)
		e.event(false)
	}
	if e.repeated {
		e.start(withoutRepeated(line))
		e.event(false)
	}
	if e.failed {
		e.start(line)
		e.rec = putFixed64(e.rec, recordObservedTime, uint64(e.now().UnixNano()))
		e.rec = putTextValue(e.rec, recordBody, validText(line))
	}
	e.rec = append(e.rec, e.uid...)
}

func (e *encoder) start(line []byte) {
	e.scanner = scanner{src: line}
	e.rec, e.namespace, e.keys, e.repeated = e.rec[:e.begin], nil, e.keys[:0], false
}

// setUID makes the attribute with the id of a line. The ids of a batch differ in the last digits.
func (e *encoder) setUID(b stream.Batch, i int) {
	if i == 0 || !increment(e.uid) {
		e.id = b.AppendID(e.id[:0], i)
		e.uid = putTextPair(e.uid[:0], recordAttributes, attrRecordUID, e.id)
	}
}

// increment adds one to the decimal number at the end of a text, and reports whether the number
// still has as many digits. Otherwise the text is not valid any more.
func increment(text []byte) bool {
	for i := len(text) - 1; i >= 0 && isDigit(text[i]); i-- {
		if text[i] != '9' {
			text[i]++
			return true
		}
		text[i] = '0'
	}
	return false
}

// withoutRepeated returns an object that has the last of repeated keys only, as encoding/json
// reads it. If the object is not valid, the result is not valid either.
func withoutRepeated(object []byte) []byte {
	if !json.Valid(object) {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(object))
	dec.UseNumber()
	var members map[string]any
	if err := dec.Decode(&members); err != nil {
		return nil
	}
	unique, err := json.Marshal(members)
	if err != nil {
		return nil
	}
	return unique
}
