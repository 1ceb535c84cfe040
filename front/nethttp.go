package front

import (
	"context"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/weirhq/weir/proxy"
)

// held is an exchange with its net/http adapter. net/http writes the end of a
// response after the handler has returned. Over HTTP/1, the connection holds the
// exchange until then.
type held struct {
	exchange
	face proxy.HTTP
}

var heldExchanges = sync.Pool{New: func() any {
	h := new(held)
	h.sampled = startSampling(eventsPerSample)
	h.Context = &h.exchange
	return h
}}

func (h *held) recycle() {
	h.exchange.reset()
	h.face.Release()
	heldExchanges.Put(h)
}

// ServeHTTP implements http.Handler.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := heldExchanges.Get().(*held)
	h.face.Bind(&h.Exchange, w, r)
	c, ok := r.Context().Value(connKey{}).(*clientConn)
	if h.face.Keep = ok && r.ProtoMajor == 1; h.face.Keep {
		s.serveHTTP1(c, h, w, r)
	} else {
		s.serveHTTP2(h, w, r)
	}
}

func (s *server) serveHTTP1(c *clientConn, h *held, w http.ResponseWriter, r *http.Request) {
	if h.Target != "" && h.Target[0] != '/' && h.Target != "*" && h.Method != "CONNECT" {
		h.makeOrigin()
	}
	h.pacer.conn = c
	c.hold(h)
	s.door.serve(&h.exchange)
	if !h.Cut && !h.Upgraded {
		h.pacer.allowLastWrite()
	}
	switch {
	case h.Cut:
		defer c.finish() // deferred, because Abort makes net/http use the head of the response
		proxy.Abort(w, r)
	case h.Upgraded:
		c.finish()
	case h.Length != 0:
		// net/http waits for the rest of the body, to discard it.
		c.SetReadDeadline(time.Now().Add(restTimeout))
	}
}

func (s *server) serveHTTP2(h *held, w http.ResponseWriter, r *http.Request) {
	h.ambiguity = ambiguousHTTP2(r)
	h.ctx = r.Context()
	h.pacer.useStream(w.(deadlines))
	release := proxy.CancelWith(r.Context(), &h.Exchange)
	s.door.serve(&h.exchange)
	release()
	cut := h.Cut
	if !cut {
		h.pacer.allowLastWrite()
	}
	h.recycle()
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

type connKey struct{}

// withConn adds the connection to the context of its requests.
func withConn(ctx context.Context, nc net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, nc)
}

const (
	// restTimeout is how long the rest of a body may take after the response.
	restTimeout = 2 * time.Second
	// maxFrame is the maximum size of an HTTP/2 frame, the lowest that RFC 9113
	// allows. The buffer of a connection grows to its longest frame.
	maxFrame = 16 << 10
)

// newHTTPServer returns the net/http server of the public listeners.
func newHTTPServer(s *server) *http.Server {
	l := withDefaults(s.door.cfg.Limits)
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	return &http.Server{
		Handler:                      s,
		Protocols:                    protocols,
		ReadHeaderTimeout:            l.HeaderTimeout,
		IdleTimeout:                  l.IdleTimeout,
		MaxHeaderBytes:               l.Headers - 4096, // net/http adds 4096
		HTTP2:                        &http.HTTP2Config{MaxReadFrameSize: maxFrame, WriteByteTimeout: max(l.WriteTimeout, 0)},
		ConnContext:                  withConn,
		ConnState:                    stateChanged,
		ErrorLog:                     s.errorLog,
		DisableGeneralOptionsHandler: true,
	}
}

// makeOrigin changes a target in absolute form (RFC 9112, section 3.2.2) to origin
// form. framing has checked that the Host field agrees with it; net/http replaces
// the field by the host of the target. If the target has another scheme, or its
// authority is not only a host, makeOrigin empties the Host, and the request is then
// refused.
func (h *held) makeOrigin() {
	authority, ok := strings.CutPrefix(h.Target, h.Scheme+"://")
	path := "/"
	if i := strings.IndexAny(authority, "/?"); i >= 0 {
		authority, path = authority[:i], authority[i:]
	}
	if !ok || authority != h.Host {
		h.Host = ""
		return
	}
	if path[0] == '?' {
		path = "/" + path
	}
	h.Target = path
}
