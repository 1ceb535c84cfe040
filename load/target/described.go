package target

import (
	"fmt"
	"strings"

	"github.com/weirhq/weir/load/internal/openapi"
	"github.com/weirhq/weir/load/internal/postman"
	"github.com/weirhq/weir/load/internal/request"
)

// readPostman reads a collection of Postman.
func (l *List) readPostman(name string, data []byte) error {
	requests, err := postman.Read(data)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	for _, r := range requests {
		t := Target{Method: r.Method, URL: l.withOrigin(r.URL), Body: Body{Text: r.Body}}
		for _, h := range r.Header {
			t.addHeader(Header(h))
		}
		if r.Err == nil && len(r.Form) > 0 {
			r.Err = t.setForm(r.Form)
		}
		l.addDescribed(name+": "+r.Name, t, r.Err)
	}
	return l.someOf("requests of the collection", len(requests))
}

func (t *Target) setForm(all []postman.FormField) error {
	var fields []FormField
	for _, p := range all {
		fields = append(fields, FormField{Name: p.Name, Value: p.Value, ContentType: p.ContentType})
	}
	body, kind, err := Form(fields, 0)
	t.removeHeader("Content-Type") // which has no boundary
	t.Body, t.Header = body, append(t.Header, kind)
	return err
}

// readOpenAPI reads a description in OpenAPI.
func (l *List) readOpenAPI(name string, data []byte) error {
	requests, err := openapi.Read(data)
	if err != nil {
		first, _, _ := strings.Cut(err.Error(), "\n") // the reader of YAML shows the lines around it
		return fmt.Errorf("%s: %s", name, first)
	}
	for _, r := range requests {
		t := Target{Method: r.Method, URL: request.EscapeTemplate(l.withOrigin(r.URL)), Body: Body{Text: request.EscapeTemplate(r.Body)}}
		for _, h := range r.Header {
			t.addHeader(Header{h.Name, request.EscapeTemplate(h.Value)})
		}
		l.addDescribed(name+": "+r.Name, t, r.Err)
	}
	return l.someOf("operations of the description", len(requests))
}

// withOrigin adds an origin to a path.
func (l *List) withOrigin(url string) string {
	if strings.HasPrefix(url, "/") {
		l.NoServer, url = true, "http://127.0.0.1"+url
	}
	return url
}

// addDescribed adds a request, or the reason why it cannot be sent.
func (l *List) addDescribed(name string, t Target, err error) {
	if err == nil {
		err = t.check()
	}
	if err != nil {
		l.Skipped = append(l.Skipped, fmt.Sprintf("%s: %v", name, err))
		return
	}
	l.Targets = append(l.Targets, t)
}

// someOf returns an error if all requests were skipped.
func (l *List) someOf(requests string, n int) error {
	if n > 0 && len(l.Targets) == 0 {
		return fmt.Errorf("none of the %d %s can be sent; %s", n, requests, l.Skipped[0])
	}
	return nil
}
