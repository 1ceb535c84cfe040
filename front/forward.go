package front

import (
	"fmt"
	"github.com/weirhq/weir/front/stage"
	"time"
)

// forwarding forwards the requests of a route to an upstream.
type forwarding struct {
	timeout time.Duration
	try     time.Duration // 0 for no limit
	upgrade []string
}

func (f *forwarding) forward(x *stage.Exchange, to *stage.Upstream) {
	x.Timeout, x.TryTimeout, x.Upgrade = f.timeout, f.try, f.upgrade
	p := &of(&x.Exchange).pacer
	p.LimitTo(x.Deadline)
	if to.HTTP2 && x.HTTP2 && stage.IsGRPC(x.Header) {
		p.AllowQuiet(f.timeout)
	}
	x.To = to
	to.Proxy.Serve(&x.Exchange)
}

func upstreamOf(upstreams map[string]*stage.Upstream, name string) (*stage.Upstream, error) {
	if up := upstreams[name]; up != nil {
		return up, nil
	}
	return nil, fmt.Errorf("there is no upstream %q", name)
}
