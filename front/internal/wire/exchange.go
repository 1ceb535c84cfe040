package wire

import (
	"github.com/weirhq/weir/front/internal/handshake"
	"github.com/weirhq/weir/front/internal/pacing"
	"github.com/weirhq/weir/front/stage"
)

// An Exchange is one request and its response, with the facts of the connection. It comes from a pool.
type Exchange struct {
	stage.Exchange

	TLS       *handshake.Client // of the connection; nil without TLS
	Ambiguity string            // why the request is ambiguous; "" if it is not
	AltSvc    string            // where the client's listener serves HTTP/3; "" if it does not
	Pacer     pacing.Pacer
}

// reset makes the exchange ready for the pool.
func (x *Exchange) reset() {
	x.Exchange.Reset()
	x.TLS, x.Ambiguity, x.AltSvc = nil, "", ""
	x.Pacer.Reset()
}
