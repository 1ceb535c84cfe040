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
	id     string // in the log and in X-Request-Id
	parent string // value of traceparent (W3C Trace Context)

	idSpace     [traceid.Length]byte
	parentSpace [55]byte
}

func (t *trace) reset() { t.id, t.parent = "", "" }

// read sets the trace id of a request by the rule of package traceid. It keeps a
// valid traceparent, and otherwise makes one of the id. read returns the header.
// It removes a tracestate without a valid traceparent.
func (t *trace) read(header []proxying.Field) []proxying.Field {
	parent, requestID := stage.Only(header, traceParentField), stage.Only(header, requestIDField)
	t.id = traceid.Of(parent, requestID)
	if traceid.OfParent(parent) != "" {
		t.parent = parent
		return header
	}
	if t.id == "" {
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
	b = traceid.AppendHex(append(b, '-'), rand.Uint64()|1) // never all zeros
	b = append(b, "-01"...)
	t.parent = httpsyntax.View(b)
}
