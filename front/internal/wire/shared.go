package wire

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/weirhq/weir/front/internal/eventpace"
	"github.com/weirhq/weir/front/internal/handshake"
)

// shared is the part of a server that its connections use.
type shared struct {
	Settings
	inUse        atomic.Pointer[Limits]
	conns        conns
	rejector     rejector
	handshakes   *handshake.Server
	handshakeLog eventpace.Flood
	serving      sync.WaitGroup // the goroutines of connections

	exchanges       sync.Pool // of *http1Exchange
	streamExchanges sync.Pool // of *streamExchange
}

// limits returns the limits in use. The caller must not change them.
func (s *shared) limits() *Limits { return s.inUse.Load() }

// panicked logs a panic in a loop that is not one of a request, which only ends the
// connection.
func (s *shared) panicked(value any, stack []byte) {
	s.Log().Error("panic on a connection").Err(fmt.Errorf("%v\n%s", value, stack)).Send()
}

// A listenerState is the part of a listener that its connections use.
type listenerState struct {
	draining atomic.Bool            // each response asks its client to close the connection
	ending   atomic.Bool            // connections without a request in progress must end
	altSvc   atomic.Pointer[string] // where HTTP/3 is served (RFC 7838); nil if it is not
}

// alt returns the value of Alt-Svc for responses, or "".
func (l *listenerState) alt() string {
	if value := l.altSvc.Load(); value != nil {
		return *value
	}
	return ""
}
