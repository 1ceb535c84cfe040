package front

import (
	"hash/maphash"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/internal/httpsyntax"
	"github.com/weirhq/weir/internal/proxying"
	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/traceid"
)

// A tracer selects the requests that are traced, and writes their spans. Goroutines may share it. Nil traces nothing.
//
// A traced request has a span of its own, and one for each try at a server of an upstream. The traceparent of a try names
// the try's span. Everything else that the request sends, such as the question of forward_auth, names the request's.
type tracer struct {
	log   *log.Logger
	share float64        // of the requests without a caller that has decided, from 0 to 1
	trust proxying.Trust // peers that decide whether a request is traced
}

// newTracer returns the tracer of a configuration, or nil. w gets a line for each span.
func newTracer(cfg *config.Config, w log.EventWriter) *tracer {
	if cfg.Traces.To == "" {
		return nil
	}
	return &tracer{
		log:   log.New(w, log.Options{Namespace: cfg.Namespace, Redact: cfg.Secrets()}),
		share: cfg.Traces.Sample / 100, trust: cfg.TrustedProxies,
	}
}

// begin decides whether a request is traced, and sets the traceparent that upstreams get.
func (tr *tracer) begin(x *exchange) {
	t, s := &x.trace, &x.spans
	s.traced = tr.selects(t, tr.trust.Trusts(x.Peer))
	if t.caller != "" && (s.traced || t.sampled) {
		t.replaceParent() // also a changed flag needs another parent-id
	}
	switch {
	case s.traced:
		copy(s.own[:], t.parent[parentSpanAt:])
	case t.caller == "" || t.sampled:
		copy(t.parentSpace[parentFlagsAt-1:], flagsUnsampled)
	}
}

// seed makes it impossible for clients to choose ids that are sampled.
var seed = maphash.MakeSeed()

// selects reports whether a request is traced. An untrusted client can choose ids with any fraction, so that its ids are
// distributed by a number that only this process knows.
func (tr *tracer) selects(t *trace, trusted bool) bool {
	switch {
	case trusted && t.caller != "":
		return t.sampled
	case t.chosen && !trusted:
		return float64(maphash.String(seed, t.w3c())>>11)/(1<<53) < tr.share
	}
	return traceid.Fraction(t.w3c()) < tr.share
}

// replaceParent replaces the traceparent of the client by one with another parent-id.
func (t *trace) replaceParent() {
	b := append(append(t.parentSpace[:0], "00-"...), t.w3c()...)
	b = appendSpanID(append(b, '-'))
	t.parent = httpsyntax.View(append(b, flagsSampled...))
}
