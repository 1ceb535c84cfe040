package front

import (
	"math/rand/v2"
	"slices"

	"github.com/weirhq/weir/front/stage"
	"github.com/weirhq/weir/internal/httpsyntax"
	"github.com/weirhq/weir/internal/proxying"
	"github.com/weirhq/weir/log/traceid"
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
	id      string // in the log and in X-Request-Id
	parent  string // value of traceparent (W3C Trace Context)
	caller  string // the parent-id of a valid traceparent that the client has sent; "" without one
	chosen  bool   // the client has chosen the id
	sampled bool   // the client has sent a traceparent with the flag "sampled"

	idSpace     [traceid.Length]byte
	parentSpace parentText
}

// parentText is the text of a traceparent of version 00.
type parentText [len("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")]byte

// The parts of a traceparent.
const (
	parentTraceAt  = len("00-")
	parentSpanAt   = parentTraceAt + 32 + len("-")
	parentFlagsAt  = parentSpanAt + spanIDLength + len("-")
	spanIDLength   = 16
	flagsSampled   = "-01"
	flagsUnsampled = "-00"
)

func (t *trace) reset() { t.id, t.parent, t.caller, t.chosen, t.sampled = "", "", "", false, false }

// w3c returns the trace-id of the traceparent.
func (t *trace) w3c() string { return t.parent[parentTraceAt:][:32] }

// read sets the trace id of a request by the rule of package traceid. It keeps a
// valid traceparent, and otherwise makes one of the id. read returns the header.
// It removes a tracestate without a valid traceparent.
func (t *trace) read(header []proxying.Field) []proxying.Field {
	parent, requestID := stage.Only(header, traceParentField), stage.Only(header, requestIDField)
	t.id = traceid.Of(parent, requestID)
	t.chosen = t.id != ""
	if traceid.OfParent(parent) != "" {
		t.parent, t.sampled = parent, traceid.IsSampled(parent)
		t.caller = parent[parentSpanAt:][:spanIDLength]
		return header
	}
	if !t.chosen {
		t.id = httpsyntax.View(traceid.AppendNew(t.idSpace[:0]))
	}
	t.makeParent()
	return slices.DeleteFunc(header, isTraceState)
}

func isTraceState(f proxying.Field) bool { return stage.Named(&f, traceStateField) }

// makeParent creates a traceparent for a request without one. The parent-id is
// random. The flag "sampled" is set, because the log records this request, and
// because services that follow the decision of their caller would not trace it
// otherwise.
func (t *trace) makeParent() {
	b := traceid.AppendW3C(append(t.parentSpace[:0], "00-"...), t.id)
	b = appendSpanID(append(b, '-'))
	b = append(b, flagsSampled...)
	t.parent = httpsyntax.View(b)
}

// appendSpanID appends a random id of a span.
func appendSpanID(b []byte) []byte { return traceid.AppendHex(b, rand.Uint64()|1) } // never all zeros
