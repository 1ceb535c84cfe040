package front

import (
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/weirhq/weir/proxy"
)

// A handlerExchange is an exchange with its net/http adapter.
type handlerExchange struct {
	exchange
	face proxy.HTTP
}

var handlerExchanges = sync.Pool{New: func() any {
	x := new(handlerExchange)
	x.sampled = startSampling(eventsPerSample)
	x.Context = &x.exchange
	return x
}}

// ServeHTTP implements http.Handler, for requests over HTTP/2.
func (l *listener) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := handlerExchanges.Get().(*handlerExchange)
	x.face.Bind(&x.Exchange, w, r)
	x.ambiguity = ambiguousHTTP2(r)
	x.ctx = r.Context()
	x.pacer.useStream(w.(deadlines), &l.draining)
	release := proxy.CancelWith(r.Context(), &x.Exchange)
	l.server.door.serve(&x.exchange)
	release()
	cut := x.Cut
	if !cut {
		x.pacer.allowLastWrite()
	}
	x.exchange.reset()
	x.face.Release()
	handlerExchanges.Put(x)
	if cut {
		proxy.Abort(w, r)
	}
}

// ambiguousHTTP2 returns why a request over HTTP/2 is ambiguous, or "": a field
// contradicts the frames (RFC 9113, sections 8.1.1 and 8.3.1), which net/http allows.
func ambiguousHTTP2(r *http.Request) string {
	hosts, lengths := r.Header["Host"], r.Header["Content-Length"]
	switch {
	case len(hosts) > 1 || len(hosts) == 1 && !strings.EqualFold(hosts[0], r.Host):
		return "the Host and :authority differ"
	case len(lengths) > 1 || len(lengths) == 1 && lengths[0] != strconv.FormatInt(r.ContentLength, 10):
		return "Content-Length is not the body's length"
	}
	return ""
}
