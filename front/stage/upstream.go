package stage

import "github.com/weirhq/weir/internal/proxying"

// An Upstream is a destination of requests.
type Upstream struct {
	Name   string
	Proxy  *proxying.Proxy // forwards requests to it
	HTTP2  bool            // it speaks HTTP/2
	About  string          // its name, its servers and its settings, for Explain
	Counts Counts          // of all exchanges with it: forwarded requests, and requests that a feature makes
}

// Counts count exchanges with an upstream. Goroutines may share them.
type Counts interface {
	// Observe counts failures, retries and waits. It is a hook of exchanges.
	Observe(x *proxying.Exchange, e proxying.Event)
	// Ended counts an exchange that has ended, by the class of its status.
	Ended(x *proxying.Exchange)
	// Failed counts the failure of a server.
	Failed(kind proxying.Kind)
	// Retried counts an exchange that has ended, if its request was sent again.
	Retried(x *proxying.Exchange)
	// Waited counts the time that an exchange has waited for its server, if it did.
	Waited(x *proxying.Exchange)
}
