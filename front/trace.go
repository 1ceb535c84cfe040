package front

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"unsafe"

	"github.com/weirhq/weir/proxy"
)

// The fields that carry a trace id.
const (
	requestIDField   = "X-Request-Id"
	traceParentField = "Traceparent"
	traceStateField  = "Tracestate"
)

const (
	idLetters    = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	idLength     = 16
	maxRequestID = 128
)

// A trace is what ties the events, the upstream and the client of one request
// together. Its strings may point into itself.
type trace struct {
	id     string // in the log and in X-Request-Id
	parent string // in traceparent, as W3C Trace Context has it

	idSpace     [idLength]byte
	parentSpace [55]byte
}

func (t *trace) reset() { t.id, t.parent = "", "" }

// read takes the trace id from the request: from a valid traceparent, else
// from a plain X-Request-Id, else it is 16 random letters. A traceparent is
// passed on as it came. Where there was none, its trace-id is made of the id:
// the id itself if it is one, the hexadecimal digits of 16 bytes, or a hash.
// read returns the header without a tracestate that belongs to no traceparent.
func (t *trace) read(header []proxy.Field) []proxy.Field {
	parent := only(header, traceParentField)
	if validTraceParent(parent) {
		t.parent, t.id = parent, parent[3:35]
		return header
	}
	if id := only(header, requestIDField); plainID(id) {
		t.id = id
	} else {
		t.random()
	}
	t.makeParent()
	return slices.DeleteFunc(header, isTraceState)
}

func isTraceState(f proxy.Field) bool {
	return len(f.Name) == len(traceStateField) && strings.EqualFold(f.Name, traceStateField)
}

// only returns the value of a field that is there once, else "".
func only(header []proxy.Field, name string) string {
	value, n := "", 0
	for i := range header {
		if f := &header[i]; len(f.Name) == len(name) && strings.EqualFold(f.Name, name) {
			value = f.Value
			n++
		}
	}
	if n != 1 {
		return ""
	}
	return value
}

// plainID accepts what can stand in a header, a log and a shell without
// surprises.
func plainID(id string) bool {
	if id == "" || len(id) > maxRequestID {
		return false
	}
	for i := 0; i < len(id); i++ {
		if c := id[i]; c <= ' ' || c >= 0x7f || c == '"' || c == '\\' || c == ',' || c == '\'' {
			return false
		}
	}
	return true
}

// validTraceParent checks version 00 of the field:
// 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01. Of a later version,
// what follows these 55 bytes is not known here and makes it invalid.
func validTraceParent(s string) bool {
	if len(s) != 55 || s[2] != '-' || s[35] != '-' || s[52] != '-' || s[:2] == "ff" {
		return false
	}
	return lowerHex(s[:2]) && lowerHex(s[3:35]) && lowerHex(s[36:52]) && lowerHex(s[53:]) &&
		!zeros(s[3:35]) && !zeros(s[36:52])
}

func lowerHex(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

func zeros(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] != '0' {
			return false
		}
	}
	return true
}

func (t *trace) random() {
	for i := 0; i < idLength; i += 8 {
		r := rand.Uint64()
		for j := range 8 {
			t.idSpace[i+j] = idLetters[r%uint64(len(idLetters))]
			r /= uint64(len(idLetters))
		}
	}
	t.id = view(t.idSpace[:])
}

// makeParent makes a traceparent for a request that came without one. The
// parent-id is random, and the flags say "recorded", since the log records
// this request: with any other flag, services that follow their caller's
// decision would stop tracing.
func (t *trace) makeParent() {
	b := append(t.parentSpace[:0], "00-"...)
	switch {
	case len(t.id) == 32 && lowerHex(t.id) && !zeros(t.id):
		b = append(b, t.id...)
	case len(t.id) == 16:
		for i := range 16 {
			b = appendHex(b, t.id[i])
		}
	default:
		hi, lo := hash(t.id)
		b = appendHex64(appendHex64(b, hi), lo)
	}
	b = append(b, '-')
	b = appendHex64(b, rand.Uint64()|1) // never all zeros
	b = append(b, "-01"...)
	t.parent = view(b)
}

// hash is FNV-1a of 128 bits, as hash/fnv has it, which allocates.
func hash(s string) (hi, lo uint64) {
	const low, shift = 0x13b, 24 // the prime is 1<<(64+shift) + low
	hi, lo = 0x6c62272e07bb0142, 0x62b821756295c58d
	for i := 0; i < len(s); i++ {
		lo ^= uint64(s[i])
		carry, product := bits.Mul64(low, lo)
		hi, lo = carry+lo<<shift+low*hi, product
	}
	return hi, lo
}

func appendHex64(b []byte, n uint64) []byte {
	for shift := 56; shift >= 0; shift -= 8 {
		b = appendHex(b, byte(n>>shift))
	}
	return b
}

func appendHex(b []byte, c byte) []byte {
	const digits = "0123456789abcdef"
	return append(b, digits[c>>4], digits[c&15])
}

// view returns b as a string without copying it. The string is good for as
// long as b is not written to: for the exchange that owns it.
func view(b []byte) string {
	return unsafe.String(unsafe.SliceData(b), len(b))
}
