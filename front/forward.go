package front

import (
	"time"

	"github.com/weirhq/weir/front/stage"
	"github.com/weirhq/weir/internal/proxying"
)

// forwarding forwards the requests of a route to an upstream.
type forwarding struct {
	timeout time.Duration
	try     time.Duration // 0 for no limit
	upgrade []string
}

func (f *forwarding) forward(x *stage.Exchange, to *stage.Upstream) {
	x.Timeout, x.TryTimeout, x.Upgrade = f.timeout, f.try, f.upgrade
	p := &of(&x.Exchange).wire.Pacer
	p.LimitTo(x.Deadline)
	if to.HTTP2 && x.HTTP2 && stage.IsGRPC(x.Header) {
		p.AllowQuiet(f.timeout)
	}
	x.To = to
	to.Proxy.Serve(&x.Exchange)
}

// respondToFailure responds to an exchange that has failed before a response began.
func respondToFailure(px *proxying.Exchange, status int, fields []proxying.Field) error {
	x := of(px)
	x.wire.Pacer.AllowLateResponse()
	if m := x.route.maintenance; m != nil && x.Failure().NotConnected() {
		return m.Send(x.Exchange)
	}
	return x.RespondError(status, "", fields)
}
