package proxy

import (
	"cmp"
	"errors"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"strings"
	"sync"

	"github.com/weirhq/weir/internal/proxying"
)

var errTarget = errors.New("the request has no URL or is CONNECT")

// RoundTrip implements [http.RoundTripper]: it sends a request of this process to a server of the upstream, with its
// balance, retries and limits. The host of the request's URL is only sent in Host, unless Host is set, and its scheme
// is ignored. A base path of the servers is put before the path.
//
// RoundTrip sends the fields of the request as they are. It adds none of its own, does not decompress responses, and
// passes on no upgrade. A body with another length than ContentLength is an error. Errors are of type *Error. As with
// [http.Transport], the caller must close the Body of the response, and the context of the request applies until then.
func (u *Upstream) RoundTrip(r *http.Request) (*http.Response, error) {
	own := &ownClient{r: r}
	if r.URL == nil || r.Method == http.MethodConnect {
		own.closeBody()
		return nil, &Error{Kind: BadRequest, Step: "writing the request", Err: errTarget}
	}
	x := own.exchange()
	x.Timeout, x.TryTimeout = u.timeout, u.tryTimeout
	in := newPulled(x, r, own)
	inner := &proxying.Proxy{Upstream: u.inner, Fail: func(*proxying.Exchange, int, []proxying.Field) error {
		return nil // RoundTrip returns the error
	}}
	release := proxying.EndWith(r.Context(), x)
	go func() {
		in.serve(inner)
		release()
		own.closeBody()
	}()
	resp := <-in.resp
	if resp == nil {
		return nil, in.errorOf()
	}
	if resp.Body != http.NoBody {
		resp.Body = &ownBody{in}
	}
	return resp, nil
}

// An ownBody is the body of a response to a request of this process.
type ownBody struct{ from *pulled }

func (b *ownBody) Read(p []byte) (int, error) { return b.from.body.Read(p) }

// Close implements io.Closer. It ends the exchange.
func (b *ownBody) Close() error {
	b.from.end()
	return nil
}

// An ownClient is the client of a request of this process.
type ownClient struct {
	proxying.Client // nil: a pulled has the other methods
	r               *http.Request
	closed          sync.Once // of the body of r
}

// exchange returns the exchange of the request.
func (c *ownClient) exchange() *proxying.Exchange {
	r := c.r
	x := &proxying.Exchange{
		Method: cmp.Or(r.Method, http.MethodGet), Target: r.URL.RequestURI(), Host: cmp.Or(r.Host, r.URL.Host),
		Scheme: r.URL.Scheme, Header: appendFields(nil, r.Header), Own: true,
	}
	x.Deadline, _ = r.Context().Deadline()
	if r.Body == nil || r.Body == http.NoBody {
		if r.Method == http.MethodPost || r.Method == http.MethodPut || r.Method == http.MethodPatch {
			x.Header = append(x.Header, proxying.Field{Name: "Content-Length", Value: "0"}) // some servers require it
		}
		return x
	}
	x.Body, x.Length = proxying.BodyOf(r), lengthOf(r)
	x.Trailers = func(dst []proxying.Field) []proxying.Field { return appendFields(dst, r.Trailer) }
	if names := trailerNames(r.Trailer); names != "" {
		x.Header = append(x.Header, proxying.Field{Name: "Trailer", Value: names})
	}
	return x
}

func (c *ownClient) closeBody() {
	if c.r.Body != nil {
		c.closed.Do(func() { c.r.Body.Close() })
	}
}

// Informational implements proxying.Client.
func (c *ownClient) Informational(status int, fields []proxying.Field) error {
	trace := httptrace.ContextClientTrace(c.r.Context())
	if trace == nil || trace.Got1xxResponse == nil {
		return nil
	}
	header := make(textproto.MIMEHeader)
	for _, f := range fields {
		header.Add(strings.Clone(f.Name), strings.Clone(f.Value))
	}
	return trace.Got1xxResponse(status, header)
}

// Flush implements proxying.Client.
func (c *ownClient) Flush() error { return nil }

// Duplex implements proxying.Client.
func (c *ownClient) Duplex() {}

// StopReading implements proxying.Client.
func (c *ownClient) StopReading() { c.closeBody() }
