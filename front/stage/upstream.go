package stage

import "github.com/weirhq/weir/proxy"

// An Upstream is a destination of requests.
type Upstream struct {
	Name  string
	Proxy *proxy.Proxy // forwards requests to it
	HTTP2 bool         // it speaks HTTP/2
	About string       // its name, its servers and its settings, for Explain
}
