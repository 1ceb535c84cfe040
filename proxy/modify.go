package proxy

import (
	"errors"
	"io"
	"net/http"
	"sync"

	"github.com/weirhq/weir/internal/proxying"
)

// serveModified serves an exchange of ServeHTTP with p.ModifyResponse, which runs in this goroutine. The exchange runs
// in another one meanwhile.
func (p *Proxy) serveModified(inner *proxying.Proxy, w http.ResponseWriter, r, out *http.Request,
	x *proxying.Exchange) {
	m := &modified{HTTP: x.Client.(*proxying.HTTP)}
	in := newPulled(x, out, m)
	in.begin = m.Prepare
	fail := inner.Fail
	inner.Fail = func(x *proxying.Exchange, status int, fields []proxying.Field) error {
		x.Client = m.HTTP
		if fail != nil {
			return fail(x, status, fields)
		}
		return x.Respond(status, "", fields...)
	}
	over, panicked := make(chan struct{}), any(nil)
	go func() {
		defer close(over)
		defer func() { panicked = recover() }()
		in.serve(inner)
	}()
	defer func() { // also after a panic of ModifyResponse
		in.end()
		<-over
		if panicked != nil {
			panic(panicked)
		}
	}()
	resp := <-in.resp
	if resp == nil {
		<-over
		p.done(r, resultOf(x))
		return
	}
	err := p.ModifyResponse(resp)
	began := err == nil
	if began {
		err = m.send(resp, r.Method == http.MethodHead)
	}
	resp.Body.Close() // also if ModifyResponse has replaced it before its error
	in.end()
	<-over
	result := resultOf(x)
	result.Status, result.Err = resp.StatusCode, nil
	if x.Cut = err != nil; x.Cut {
		failure := modifyError(err)
		if result.Err = failure; !began {
			result.Status = failure.Status()
			x.Cut = p.respondTo(w, r, x, m.HTTP, failure) != nil
		}
	}
	p.done(r, result)
}

// modifyError returns the error in err if it is that of the exchange, or else one that names the step.
func modifyError(err error) *Error {
	var failure *Error
	if errors.As(err, &failure) {
		return failure
	}
	return &Error{Kind: BadResponse, Step: "modifying the response", Err: err}
}

// respondTo responds to a failure of ModifyResponse.
func (p *Proxy) respondTo(w http.ResponseWriter, r *http.Request, x *proxying.Exchange, client *proxying.HTTP,
	failure *Error) error {
	if p.ErrorHandler != nil {
		p.ErrorHandler(w, r, failure)
		return nil
	}
	x.Client = client
	return x.Respond(failure.Status(), "")
}

// A modified sends a modified response. The exchange, in another goroutine, calls its Flush.
type modified struct {
	*proxying.HTTP

	mu      sync.Mutex // guards the fields below, and the calls of HTTP after the response has begun
	begun   bool
	waiting bool // the exchange has waited, so each part of the response is sent immediately
}

// send sends a response. headOnly is that to HEAD.
func (m *modified) send(resp *http.Response, headOnly bool) error {
	if err := m.write(func() error {
		m.Begin(resp.StatusCode, headOf(resp))
		m.begun = true
		return nil
	}); err != nil {
		return err
	}
	if headOnly || resp.StatusCode == 204 || resp.StatusCode == 304 {
		return nil
	}
	buf := make([]byte, 32<<10)
	for {
		n, err := resp.Body.Read(buf)
		if n > 0 {
			if err := m.write(func() error { _, err := m.HTTP.Write(buf[:n]); return err }); err != nil {
				return &Error{Kind: ClientGone, Step: "sending the response", Err: err}
			}
		}
		switch {
		case err == io.EOF:
			return m.write(func() error {
				if len(resp.Trailer) == 0 {
					return nil
				}
				defer m.HTTP.Trailer(appendFields(nil, resp.Trailer))
				return m.HTTP.Flush() // otherwise net/http sends a Content-Length, and no trailers
			})
		case err != nil:
			return err
		}
	}
}

// headOf returns the fields of a response, with the names of its trailers.
func headOf(resp *http.Response) []proxying.Field {
	fields := appendFields(nil, resp.Header)
	if names := trailerNames(resp.Trailer); names != "" {
		fields = append(fields, proxying.Field{Name: "Trailer", Value: names})
	}
	return fields
}

// write writes a part of the response.
func (m *modified) write(f func() error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := f(); err != nil || !m.waiting {
		return err
	}
	return m.HTTP.Flush()
}

// Flush implements proxying.Client.
func (m *modified) Flush() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.waiting = true; m.begun {
		return m.HTTP.Flush()
	}
	return nil
}
