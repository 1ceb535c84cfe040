package proxy

import (
	"net/http"
	"net/http/httputil"
	"time"

	"github.com/weirhq/weir/internal/proxying"
)

// A Proxy forwards requests to an upstream. Its fields must not change once it is used. It is safe
// for concurrent use. The zero Proxy responds with 502.
type Proxy struct {
	Upstream *Upstream

	// Trust lists the proxies in front of this one; see its documentation for the rule.
	Trust Trust

	// Upgrade lists the upgrade tokens that are passed on, in lower case. Nil means only
	// "websocket"; an empty list means none.
	Upgrade []string

	// Rewrite, if not nil, changes Out, the request for the upstream, or replaces it: its method,
	// path, query, Host, header, body, ContentLength and context. An empty Host means that of the
	// URL. The servers are those of Upstream, whatever the host of the URL, and the fields about the
	// way of the request (X-Forwarded-For and others) are those of Trust. Out has neither these nor
	// hop-by-hop fields, and no parameters of the query that url.ParseQuery cannot read: Rewrite may
	// copy RawQuery of In to keep them. Its Body is nil without a body. The length of a Body with
	// ContentLength 0 is unknown.
	Rewrite func(*httputil.ProxyRequest)

	// ModifyResponse, if not nil, changes the response of a server: its status, header and body. If
	// it replaces Body, which the proxy closes, it also sets or removes Content-Length. An error
	// responds in place of the response. Responses of the proxy itself, informational ones and upgrades do not pass it.
	// Request is the request for the upstream.
	ModifyResponse func(*http.Response) error

	// ErrorHandler, if not nil, responds to a request that has failed before a response began. It
	// gets the request of the client, like Done, and not that of Rewrite. The error is an *Error.
	// The default responds with [Error.Status] and a short text.
	ErrorHandler func(http.ResponseWriter, *http.Request, error)

	// Done, if not nil, is called at the end of each request.
	Done func(*http.Request, Result)
}

// A Result is the outcome of a request.
type Result struct {
	// Status is that of the response, or [Error.Status] if the proxy has responded itself.
	Status int

	// Server is the URL of the server that the request was sent to, with an explicit port. It is
	// the last one of several, and empty if there was none. If the server's Addr differs, that
	// follows as a fragment, as in http://shop.example:8080#10.0.0.5.
	Server string

	// Waited is the time spent waiting for the server: until the head of its response, plus each
	// later wait for a part of the body. It excludes the time that the client takes.
	Waited time.Duration

	Retried RetryReason // why the request was sent again the last time; "" if it was not

	// Err is an *Error that says why the request failed. It is nil if the server's response was
	// passed on completely.
	Err error
}

// ServeHTTP serves one request. It panics with [http.ErrAbortHandler] if the response cannot be
// completed, as net/http requires. When it has returned, w and r belong to the caller, with the
// header and its values.
//
// A deadline in the context of r applies to the whole request, which then fails with kind Overdue.
// An *http.MaxBytesError of r.Body is kind TooLarge (413), and an error that wraps
// os.ErrDeadlineExceeded is ClientSlow (408). A body that is longer or shorter than its
// Content-Length is ClientBody (400).
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	inner := proxying.Proxy{Trust: proxying.Trust(p.Trust), Upgrade: p.Upgrade}
	if u := p.Upstream; u != nil {
		inner.Upstream, inner.Timeout, inner.TryTimeout = u.inner, u.timeout, u.tryTimeout
	}
	if p.ErrorHandler != nil {
		inner.Fail = func(x *proxying.Exchange, _ int, _ []proxying.Field) error {
			x.Client.(*proxying.HTTP).Prepare()
			p.ErrorHandler(w, r, errorOf(x.Err))
			return nil
		}
	}
	if p.Rewrite == nil && p.ModifyResponse == nil {
		if p.Done != nil {
			inner.Hook = p.whenDone(r)
		}
		inner.ServeHTTP(w, r)
		return
	}
	p.serveHooked(inner, w, r)
}

// serveHooked is ServeHTTP with Rewrite or ModifyResponse.
func (p *Proxy) serveHooked(inner proxying.Proxy, w http.ResponseWriter, r *http.Request) {
	out := r
	if p.Rewrite != nil {
		out = p.rewrite(r)
	}
	inner.Handle(w, out, func(x *proxying.Exchange) {
		if p.Rewrite != nil {
			sendRewritten(x, r, out)
		}
		if p.ModifyResponse != nil {
			p.serveModified(&inner, w, r, out, x)
			return
		}
		inner.Hook = p.whenDone(r)
		inner.Serve(x)
	})
}

// whenDone returns a hook that calls p.Done.
func (p *Proxy) whenDone(r *http.Request) func(*proxying.Exchange, proxying.Event) {
	return func(x *proxying.Exchange, e proxying.Event) {
		if e == proxying.Done {
			p.done(r, resultOf(x))
		}
	}
}

func (p *Proxy) done(r *http.Request, result Result) {
	if p.Done != nil {
		p.Done(r, result)
	}
}

func resultOf(x *proxying.Exchange) Result {
	result := Result{Status: x.Status, Waited: x.Waited, Retried: RetryReason(x.Retried), Err: errorOf(x.Err)}
	if x.Server != nil {
		result.Server = x.Server.URL()
	}
	return result
}
