package otlpsink

import (
	"bytes"
	"encoding/json"
	"time"
	"unicode/utf8"

	"github.com/weirhq/weir/log/stream"
)

// instrumentation is the name of the scope of all records.
const instrumentation = "github.com/weirhq/weir/log"

// An encoder converts batches of lines. It keeps its memory from batch to batch.
type encoder struct {
	now func() time.Time

	out     []byte // the request
	records []byte // of the current scope, as fields of its ScopeLogs
	service []byte // the service of these records

	// The record of the current line.
	scanner
	rec       []byte // the fields of the LogRecord
	namespace []byte // the value of the member namespace
	room      []byte // for texts with escapes
	name      []byte // of an attribute that is being written
	uid       []byte
	keys      [][]byte // of the objects that are open
	repeated  bool     // whether an object has a key twice
	stamp     stamp
	created   uint64 // the time of the event; 0 if it is not known
	traceID   []byte
	spanID    []byte
	frames    []byte // the text of a stack
	function  []byte // of a frame
	file      []byte // of a frame
}

// request returns the ExportLogsServiceRequest of a batch. It is valid until the next call.
func (e *encoder) request(b stream.Batch) []byte {
	e.out, e.records, e.service = e.out[:0], e.records[:0], e.service[:0]
	rest := b.Lines
	for i := range b.Count {
		line := rest
		if end := bytes.IndexByte(rest, '\n'); end >= 0 {
			line, rest = rest[:end], rest[end+1:]
		}
		e.uid = b.AppendID(e.uid[:0], i)
		e.record(line)
		if !bytes.Equal(e.namespace, e.service) {
			e.closeService()
			e.service = append(e.service[:0], e.namespace...)
		}
		e.records = putText(e.records, scopeLogsRecords, e.rec)
	}
	e.closeService()
	return e.out
}

// closeService appends the ResourceLogs of the current service to the request.
func (e *encoder) closeService() {
	if len(e.records) == 0 {
		return
	}
	e.name = putText(e.name[:0], scopeName, instrumentation)
	scope := textSize(len(e.name)) + len(e.records)
	e.room = e.room[:0]
	if len(e.service) > 0 {
		e.room = putTextPair(e.room, resourceAttributes, attrServiceName, e.service)
	}
	e.out = putLength(e.out, requestResourceLogs, textSize(len(e.room))+textSize(scope))
	e.out = putText(e.out, resourceLogsResource, e.room)
	e.out = putLength(e.out, resourceLogsScopeLogs, scope)
	e.out = putText(e.out, scopeLogsScope, e.name)
	e.out = append(e.out, e.records...)
	e.records = e.records[:0]
}

// record makes the record of a line. The result is in e.rec and e.namespace.
func (e *encoder) record(line []byte) {
	e.start(line)
	e.event()
	if e.repeated {
		e.start(withoutRepeated(line))
		e.event()
	}
	if e.failed {
		e.start(line)
		e.rec = putFixed64(e.rec, recordObservedTime, uint64(e.now().UnixNano()))
		e.rec = putTextValue(e.rec, recordBody, validText(line))
	}
	e.rec = putTextPair(e.rec, recordAttributes, attrRecordUID, e.uid)
}

func (e *encoder) start(line []byte) {
	e.scanner = scanner{src: line}
	e.rec, e.namespace, e.keys, e.repeated = e.rec[:0], e.namespace[:0], e.keys[:0], false
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

// validText returns a text as valid UTF-8.
func validText(b []byte) []byte {
	if utf8.Valid(b) {
		return b
	}
	return bytes.ToValidUTF8(b, []byte("\ufffd"))
}

// member reads the key of a member of an object whose earlier keys are e.keys[from:].
// seen has bits for them. If the key
// is repeated, it fails and sets e.repeated.
func (e *encoder) member(from int, seen *uint64) (key []byte) {
	q := e.key()
	key = q.raw
	if q.escaped || !q.ascii {
		key, _ = q.value(nil)
	}
	bit := uint64(1) << (mix(key) & 63)
	if *seen&bit != 0 {
		for _, other := range e.keys[from:] {
			if bytes.Equal(other, key) {
				e.repeated = true
				e.fail()
				return nil
			}
		}
	}
	*seen |= bit
	e.keys = append(e.keys, key)
	return key
}

// mix returns a number that differs for most keys of one object.
func mix(key []byte) uint {
	n := uint(len(key))
	if n == 0 {
		return 0
	}
	return n*7 + uint(key[0])*3 + uint(key[n-1])*5 + uint(key[n/2])*11
}
