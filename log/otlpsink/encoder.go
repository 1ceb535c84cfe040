package otlpsink

import (
	"bytes"
	"time"
	"unicode/utf8"
)

// An encoder converts batches of lines. It keeps its memory from batch to batch.
type encoder struct {
	now  func() time.Time
	host string // the name of this machine; may be empty

	rec     []byte // the request, with the record of the current line at its end
	service []byte // of the records
	moved   []byte // a record that begins a service
	repeats repeats

	// The record of the current line.
	scanner
	begin     int    // the offset of its fields in rec
	namespace []byte // the value of the member namespace; of the line or of spaceRoom
	spaceRoom []byte
	room      []byte // for texts with escapes
	name      []byte // of an attribute that is being written
	uid       []byte // the attribute with the id of the line
	id        []byte
	keys      [][]byte // of the objects that are open
	repeated  bool     // whether an object has a key twice
	stamp     stamp
	created   uint64 // the time of the event; 0 if it is not known
	traceID   []byte
	w3c       []byte // made of traceID, if that is not one of W3C Trace Context
	spanID    []byte
	frames    []byte // the text of a stack
	function  []byte // of a frame
	file      []byte // of a frame
}

// validText returns a text as valid UTF-8. Like encoding/json, it replaces each invalid byte.
func validText(b []byte) []byte {
	if utf8.Valid(b) {
		return b
	}
	return []byte(string([]rune(string(b))))
}

// member reads the key of a member of an object whose earlier keys are e.keys[from:].
// seen has bits for them. If the key is repeated, it fails and sets e.repeated.
func (e *encoder) member(from int, seen *uint64) (key []byte) {
	q := e.key()
	key = q.raw
	if q.escaped || !q.ascii {
		key, _ = q.value(nil)
	}
	bit := bitOf(key)
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

// bitOf returns a bit that differs for most keys of one object.
func bitOf(key []byte) uint64 {
	n := uint(len(key))
	if n == 0 {
		return 1
	}
	return 1 << ((n*7 + uint(key[0])*3 + uint(key[n-1])*5 + uint(key[n/2])*11) & 63)
}

// A keySet is a set of keys.
type keySet struct {
	bits uint64 // of bitOf
	keys [][]byte
}

func (s *keySet) add(key []byte) {
	s.bits |= bitOf(key)
	s.keys = append(s.keys, key)
}
