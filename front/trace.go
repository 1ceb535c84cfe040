package front

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"unsafe"

	"github.com/weirhq/weir/log/traceid"
	"github.com/weirhq/weir/proxy"
)

// The header fields with a trace id.
const (
	requestIDField   = "X-Request-Id"
	traceParentField = "Traceparent"
	traceStateField  = "Tracestate"
)

// A trace identifies a request in its events, and to the upstream and the client.
// Its strings may point into its own buffers.
type trace struct {
	id     string // in the log and in X-Request-Id
	parent string // value of traceparent (W3C Trace Context)

	idSpace     [traceid.Length]byte
	parentSpace [55]byte
}

func (t *trace) reset() { t.id, t.parent = "", "" }

// read sets the trace id of a request by the rule of package traceid. It keeps a
// valid traceparent. Otherwise it derives the trace-id of a new one from the id:
// the id itself if it is a valid trace-id, the hexadecimal digits of an id of 16
// bytes, or a hash. read returns the header. It removes a tracestate without a
// valid traceparent.
func (t *trace) read(header []proxy.Field) []proxy.Field {
	parent := only(header, traceParentField)
	if id := traceid.OfParent(parent); id != "" {
		t.parent, t.id = parent, id
		return header
	}
	if id := only(header, requestIDField); traceid.Plain(id) {
		t.id = id
	} else {
		t.id = view(traceid.AppendNew(t.idSpace[:0]))
	}
	t.makeParent()
	return slices.DeleteFunc(header, isTraceState)
}

func isTraceState(f proxy.Field) bool {
	return len(f.Name) == len(traceStateField) && strings.EqualFold(f.Name, traceStateField)
}

// only returns the value of a field that occurs exactly once, or "".
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

// makeParent creates a traceparent for a request without one. The parent-id is
// random. The flag "sampled" is set, because the log records this request, and
// because services that follow the decision of their caller would not trace it
// otherwise.
func (t *trace) makeParent() {
	b := append(t.parentSpace[:0], "00-"...)
	switch {
	case traceid.IsW3C(t.id):
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

// hash is FNV-1a with 128 bits. hash/fnv would allocate.
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

// view returns b as a string without copying it. The string is valid until b is
// modified, which is until the exchange that owns b ends.
func view(b []byte) string {
	return unsafe.String(unsafe.SliceData(b), len(b))
}
