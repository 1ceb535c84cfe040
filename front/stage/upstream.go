package stage

import "github.com/weirhq/weir/proxy"

// An Upstream is a destination of requests.
type Upstream struct {
	Name   string
	Proxy  *proxy.Proxy // forwards requests to it
	HTTP2  bool         // it speaks HTTP/2
	About  string       // its name, its servers and its settings, for Explain
	Counts Counts       // of all exchanges with it: forwarded requests, and those that a feature makes
}

// Counts count exchanges with an upstream. Goroutines may share them.
type Counts interface {
	// Observe counts failures, retries and waits. It is a hook of exchanges.
	Observe(x *proxy.Exchange, e proxy.Event)
	// Failed counts the failure of a server.
	Failed(kind proxy.Kind)
	// Retried counts an exchange that has ended, if its request was sent again.
	Retried(x *proxy.Exchange)
	// Waited counts the time that an exchange has waited for its server, if it did.
	Waited(x *proxy.Exchange)
}
