package front

import (
	"fmt"
	"time"

	"github.com/weirhq/weir/internal/httpsyntax"
	"github.com/weirhq/weir/proxy"
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

// isGRPC reports whether the fields are those of a call of gRPC.
func isGRPC(fields []proxy.Field) bool {
	const prefix = "application/grpc"
	for i := range fields {
		if f := &fields[i]; httpsyntax.EqualFold(f.Name, "content-type") {
			return len(f.Value) >= len(prefix) && httpsyntax.EqualFold(f.Value[:len(prefix)], prefix)
		}
	}
	return false
}

func upstreamOf(upstreams map[string]*upstream, name string) (*upstream, error) {
	if up := upstreams[name]; up != nil {
		return up, nil
	}
	return nil, fmt.Errorf("there is no upstream %q", name)
}
