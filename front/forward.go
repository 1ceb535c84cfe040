package front

import (
	"fmt"
	"time"
)

// forwarding forwards the requests of a route to an upstream.
type forwarding struct {
	timeout time.Duration
	try     time.Duration // 0 for no limit
	upgrade []string
}

func (f *forwarding) forward(x *exchange, to *upstream) {
	x.Timeout, x.TryTimeout, x.Upgrade = f.timeout, f.try, f.upgrade
	x.pacer.limitTo(x.Deadline)
	if to.http2 && x.HTTP2 && isGRPC(x.Header) {
		x.pacer.allowQuiet(f.timeout)
	}
	x.to = to
	to.proxy.Serve(&x.Exchange)
}

func upstreamOf(upstreams map[string]*upstream, name string) (*upstream, error) {
	if up := upstreams[name]; up != nil {
		return up, nil
	}
	return nil, fmt.Errorf("there is no upstream %q", name)
}
