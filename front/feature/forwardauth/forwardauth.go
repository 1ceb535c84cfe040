// Package forwardauth asks a service whether a request is admitted: the key forward_auth.
package forwardauth

import (
	"context"
	"errors"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/weirhq/weir/front/stage"
	"github.com/weirhq/weir/internal/httpsyntax"
	"github.com/weirhq/weir/internal/proxying"
)

// A forwardAuth is a stage that asks a service whether a request is admitted. It asks with an
// exchange of its own, which has the driver of the request. Without a complete response of the
// service, no request is admitted.
type forwardAuth struct {
	refused prometheus.Counter
	to      *stage.Upstream
	proxy   *proxying.Proxy // of the upstream, with the hook of these exchanges
	target  string
	timeout time.Duration
	ask     []string // the client's fields that the service gets; nil for all
	copy    []string // fields of the response that replace those of the request, or are added to the response
}

// maxVerdict is the maximum length of the body of a response. Responses are read completely
// before they are passed on.
const maxVerdict = 1 << 20

// Stage returns the stage of a route, or nil.
func Stage(c *Config, r *stage.Route) (stage.Stage, error) {
	if c == nil {
		return nil, nil
	}
	to, err := r.Upstream(c.To)
	if err != nil {
		return nil, err
	}
	return &forwardAuth{
		refused: r.Refused("forward_auth", r.Label), to: to,
		proxy:  &proxying.Proxy{Upstream: to.Proxy.Upstream, Trust: to.Proxy.Trust, Hook: to.Counts.Observe},
		target: c.Path, timeout: c.Timeout, ask: c.Send, copy: c.Copy,
	}, nil
}

func (a *forwardAuth) Apply(x *stage.Exchange) (responded bool) {
	v := verdicts.Get().(*verdict)
	defer v.release()
	a.fill(v, x)
	ctx, cancel := x.WaitContext()
	defer cancel()
	ctx, stop := context.WithTimeout(ctx, a.timeout)
	defer stop()
	release := proxying.CancelWith(ctx, &v.Exchange)
	a.proxy.Serve(&v.Exchange)
	release()
	a.to.Counts.Retried(&v.Exchange)
	switch {
	case v.Err != nil:
		a.fail(x, v, errors.Is(ctx.Err(), context.DeadlineExceeded))
		return true
	case v.Status < 200 || v.Status > 299:
		a.refuse(x, v)
		return true
	}
	a.to.Counts.Waited(&v.Exchange)
	x.SendRemove = stage.JoinNames(x.SendRemove, a.copy)
	for i := range v.fields {
		f := &v.fields[i]
		if !stage.HasName(a.copy, f.Name) {
			continue
		}
		copied := stage.Field{Name: strings.Clone(f.Name), Value: strings.Clone(f.Value)}
		if httpsyntax.EqualFold(f.Name, "Set-Cookie") {
			x.ResponseAdd = append(x.ResponseAdd, copied)
		} else {
			x.Send = append(x.Send, copied)
		}
	}
	return false
}

// fill sets the question to the service: a GET request without the body.
func (a *forwardAuth) fill(v *verdict, x *stage.Exchange) {
	v.Method, v.Target, v.Host, v.Scheme = "GET", a.target, x.Host, x.Scheme
	v.Peer, v.Driver, v.Timeout, v.Deadline = x.Peer, x.Driver, a.timeout, x.Deadline
	v.Client = v
	for _, f := range x.Header {
		if stage.HasName(neverAsked, f.Name) {
			continue
		}
		if a.ask == nil && !claimsOriginal(f.Name) || stage.HasName(a.ask, f.Name) || stage.HasName(alwaysAsked, f.Name) {
			v.Header = append(v.Header, f)
		}
	}
	v.Send = append(append(v.Send, x.Send...),
		stage.Field{Name: "X-Forwarded-Method", Value: x.Method},
		stage.Field{Name: "X-Forwarded-Uri", Value: x.Target})
	v.SendRemove = x.SendRemove
}

var (
	// neverAsked are the fields about the body, about the connection, and those that could
	// make a service respond with 304, 206 or 412.
	neverAsked = []string{"Content-Length", "Transfer-Encoding", "Trailer", "Te", "Expect", "Upgrade", "Range", "If-Range",
		"If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since"}
	// alwaysAsked are the fields from which package proxying makes others.
	alwaysAsked = []string{"Connection", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "Forwarded"}
)

// claimsOriginal reports whether services may read a field as the address or the method of the
// request that they decide about, instead of the X-Forwarded-* fields. Names with "_" are
// included, because a CGI-like service does not distinguish them.
func claimsOriginal(name string) bool {
	if name[0]|0x20 != 'x' {
		return false
	}
	name = strings.ToLower(strings.ReplaceAll(name, "_", "-"))
	return strings.HasPrefix(name, "x-original-") || name == "x-rewrite-url"
}

// refuse passes the response of the service on to the client.
func (a *forwardAuth) refuse(x *stage.Exchange, v *verdict) {
	a.refused.Inc()
	a.answered(x, v)
	x.Refusal = "forward_auth: " + a.to.Name + " responded with " + strconv.Itoa(v.Status)
	fields := make([]stage.Field, 0, len(v.fields))
	for _, f := range v.fields {
		if !httpsyntax.EqualFold(f.Name, "Content-Length") {
			fields = append(fields, stage.Field{Name: strings.Clone(f.Name), Value: strings.Clone(f.Value)})
		}
	}
	x.RespondWith(v.Status, fields, string(v.body))
}

// fail responds in place of a service that has not answered completely. late reports whether
// its time was over.
func (a *forwardAuth) fail(x *stage.Exchange, v *verdict, late bool) {
	failure := v.Err.(*proxying.Error)
	if late && failure.Kind == proxying.ClientGone {
		failure = &proxying.Error{Kind: proxying.Timeout, Server: failure.Server, Step: failure.Step, Err: errLateVerdict}
	}
	a.answered(x, v)
	x.Err = failure
	if failure.Kind == proxying.ClientGone {
		x.Status, x.Cut = 499, true
		return
	}
	status, fields := v.Status, v.fields
	if v.Cut { // after the head
		status, fields = 502, nil
	}
	if failure.Kind == proxying.Timeout || failure.Kind == proxying.Overdue {
		status = 504
	}
	var retry []stage.Field
	for _, f := range fields {
		if f.Name == "Retry-After" {
			retry = append(retry, f)
		}
	}
	x.Refuse(status, "forward_auth: no response of "+a.to.Name, retry...)
}

// answered makes the service the destination of the request in the log and in the metrics.
func (a *forwardAuth) answered(x *stage.Exchange, v *verdict) {
	x.To, x.Server, x.Waited = a.to, v.Server, v.Waited
}

var (
	errLateVerdict = errors.New("no complete response in time")
	errLongVerdict = &proxying.Error{Kind: proxying.BadResponse, Step: "reading the response",
		Err: errors.New("it is longer than 1 MiB")}
	errNoTunnel = errors.New("the request asks for no other protocol")
)

// A verdict is an exchange with the service of a forwardAuth, and its Client. It comes from a
// pool.
type verdict struct {
	proxying.Exchange
	fields []stage.Field // valid until release
	length int
	body   []byte // if the request is refused
}

var verdicts = sync.Pool{New: func() any { return new(verdict) }}

func (v *verdict) release() {
	v.Reset()
	clear(v.fields)
	v.fields, v.length, v.body = v.fields[:0], 0, nil
	verdicts.Put(v)
}

// Informational implements stage.Client.
func (v *verdict) Informational(int, []stage.Field) error { return nil }

// Head implements stage.Client.
func (v *verdict) Head(_ int, fields []stage.Field, length int64) error {
	v.fields = append(v.fields, fields...)
	if length > maxVerdict {
		return errLongVerdict
	}
	return nil
}

// Room implements stage.Client.
func (v *verdict) Room() (int, error) { return math.MaxInt, nil }

// Write implements stage.Client.
func (v *verdict) Write(p []byte) (int, error) {
	if v.length += len(p); v.length > maxVerdict {
		return 0, errLongVerdict
	}
	if v.Status > 299 {
		v.body = append(v.body, p...)
	}
	return len(p), nil
}

// Flush implements stage.Client.
func (v *verdict) Flush() error { return nil }

// Trailer implements stage.Client.
func (v *verdict) Trailer([]stage.Field) {}

// Duplex implements stage.Client.
func (v *verdict) Duplex() {}

// StopReading implements stage.Client.
func (v *verdict) StopReading() {}

// Tunnel implements stage.Client. It is not called, because the request has no Upgrade.
func (v *verdict) Tunnel() (proxying.Tunnel, []stage.Field, error) { return nil, nil, errNoTunnel }

// Explain implements stage.Explainer.
func (a *forwardAuth) Explain(*stage.Exchange) (steps []string, ends bool) {
	return []string{"asks the " + a.to.About + " whether the request is admitted"}, false
}
