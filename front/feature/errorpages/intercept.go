package errorpages

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/weirhq/weir/front/stage"
)

// An interception is a stage that replaces the bodies of error responses of upstreams with the
// pages of the route.
type interception struct{ pages *Pages }

// Stage returns the stage that intercepts, or nil if the pages do not.
func (p *Pages) Stage() stage.Stage {
	if p == nil || !p.intercept {
		return nil
	}
	return interception{p}
}

func (i interception) Apply(x *stage.Exchange) (responded bool) {
	f := interceptors.Get().(*interceptor)
	f.Client, f.x, f.pages = x.Client, x, i.pages
	x.AddFilter(f)
	return false
}

// Explain implements stage.Explainer.
func (interception) Explain(*stage.Exchange) (steps []string, ends bool) {
	return []string{"replaces the bodies of errors of the upstream by pages"}, false
}

// An interceptor is the filter of an interception.
type interceptor struct {
	stage.Client
	x        *stage.Exchange
	pages    *Pages
	replaced bool
	sent     int64 // bytes of the page
}

var interceptors = sync.Pool{New: func() any { return new(interceptor) }}

// Head implements stage.Client.
func (i *interceptor) Head(status int, fields []stage.Field, length int64) error {
	x := i.x
	p := i.pages.of(status)
	if p == nil || x.Server == nil || x.Err != nil { // weir's own responses have their pages already
		return i.Client.Head(status, fields, length)
	}
	i.replaced = true
	file := p.choose(stage.Joined(x.Header, "Accept"))
	own := i.ownFields(fields, p.appendFields(nil, file))
	own = append(own, stage.Field{Name: "Content-Length", Value: strconv.Itoa(len(file.Body))})
	if err := i.Client.Head(status, own, int64(len(file.Body))); err != nil {
		return err
	}
	if x.Method == http.MethodHead {
		return nil
	}
	n, err := i.Client.Write([]byte(file.Body))
	i.sent = int64(n)
	return err
}

// ownFields returns the fields of a page in place of a response with the given fields: those that are not about the
// replaced body, those that response_headers of the route have set, and those of the page that they do not edit.
func (i *interceptor) ownFields(fields, ofPage []stage.Field) (own []stage.Field) {
	x := i.x
	for _, f := range fields {
		if !aboutBody(f.Name) || slices.Contains(x.Response, f) || slices.Contains(x.ResponseAdd, f) {
			own = append(own, f)
		}
	}
	for _, f := range ofPage {
		if !x.Edits(f.Name) {
			own = append(own, f)
		}
	}
	return own
}

// aboutBody reports whether a field of an upstream is not kept with a page: it describes the body of the response, or
// is one of the fields that each page has itself. Content-Security-Policy and its -Report-Only protect the user on any
// page.
func aboutBody(name string) bool {
	switch name = strings.ToLower(name); name {
	case "etag", "last-modified", "accept-ranges", "digest", "repr-digest", "x-content-type-options":
		return true
	}
	return strings.HasPrefix(name, "content-") && !strings.HasPrefix(name, "content-security-policy")
}

// Write implements stage.Client. It discards a body that was replaced.
func (i *interceptor) Write(p []byte) (int, error) {
	if i.replaced {
		return len(p), nil
	}
	return i.Client.Write(p)
}

// Trailer implements stage.Client.
func (i *interceptor) Trailer(fields []stage.Field) {
	if !i.replaced {
		i.Client.Trailer(fields)
	}
}

// End implements stage.Filter. A page is complete even if the upstream has broken off the body that
// it replaces.
func (i *interceptor) End(bool) error {
	if i.replaced {
		i.x.BodySent = i.sent
		i.x.Cut = i.x.Cut && !i.x.FailedByUpstream()
	}
	*i = interceptor{}
	interceptors.Put(i)
	return nil
}
