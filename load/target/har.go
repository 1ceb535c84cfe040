package target

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/weirhq/weir/load/internal/request"
)

// A harEntry is an entry in HTTP Archive 1.2, with fields that browsers add. Only
// the fields that are needed are read.
type harEntry struct {
	ResourceType string          `json:"_resourceType"`
	Messages     json.RawMessage `json:"_webSocketMessages"`
	Request      struct {
		Method  string
		URL     string
		Headers []struct{ Name, Value string }
		Post    *harPost `json:"postData"`
		Size    int64    `json:"bodySize"` // -1 or 0 if it is not known
	}
}

type harPost struct {
	MimeType string
	Text     string
	Encoding string // some recorders write "base64"
	Params   []struct{ Name, Value, FileName, ContentType string }
}

// isHAR reports whether the file is HAR and not lines of objects: its only object
// begins with the key "log".
func (f *targetFile) isHAR() bool {
	d := json.NewDecoder(bytes.NewReader(f.data))
	if _, err := d.Token(); err != nil {
		return false
	}
	key, err := d.Token()
	return err == nil && key == "log"
}

// har reads one entry after the other, without the content of responses.
func (f *targetFile) har() error {
	// The errors of a Decoder have no offset.
	if err := json.Unmarshal(f.data, new(json.RawMessage)); err != nil {
		if e, ok := errors.AsType[*json.SyntaxError](err); ok {
			return f.fail(int(e.Offset)-1, err)
		}
		return f.fail(0, err)
	}
	d := json.NewDecoder(bytes.NewReader(f.data))
	entries, offset := 0, 0
	entry := func() error {
		offset = f.skipSpace(int(d.InputOffset()))
		var e harEntry
		if err := d.Decode(&e); err != nil {
			return err
		}
		entries++
		if err := f.addEntry(&e); err != nil {
			f.Skipped = append(f.Skipped, f.fail(offset, fmt.Errorf("%s %s: %w", e.Request.Method, e.Request.URL, err)).Error())
		}
		return nil
	}
	err := eachKey(d, "log", func() error {
		return eachKey(d, "entries", func() error { return eachElement(d, entry) })
	})
	switch {
	case err != nil || entries == 0 || len(f.Targets) > 0:
	case len(f.Skipped) > 0:
		err = fmt.Errorf("none of the %d entries can be sent; %s", entries, f.Skipped[0])
	default:
		err = fmt.Errorf("none of the %d entries is a request over http or https", entries)
	}
	if err != nil {
		return f.fail(offset, err)
	}
	return nil
}

// skipSpace returns the offset of the element after offset.
func (f *targetFile) skipSpace(offset int) int {
	rest := f.data[offset:]
	return offset + len(rest) - len(bytes.TrimLeft(rest, " \t\r\n,"))
}

// eachKey reads an object, and calls read for the value of the key.
func eachKey(d *json.Decoder, key string, read func() error) error {
	if err := expect(d, '{'); err != nil {
		return err
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		if name == key {
			err = read()
		} else {
			err = d.Decode(new(json.RawMessage))
		}
		if err != nil {
			return err
		}
	}
	return expect(d, '}')
}

func eachElement(d *json.Decoder, read func() error) error {
	if err := expect(d, '['); err != nil {
		return err
	}
	for d.More() {
		if err := read(); err != nil {
			return err
		}
	}
	return expect(d, ']')
}

func expect(d *json.Decoder, want json.Delim) error {
	got, err := d.Token()
	if err == nil && got != want {
		err = fmt.Errorf("HAR has log.entries[].request; there is %v where %v has to be", got, want)
	}
	return err
}

// addEntry adds an entry's request if it was sent over HTTP. It returns the reason why the request cannot be sent.
func (f *targetFile) addEntry(e *harEntry) error {
	r := &e.Request
	if !isURL(r.URL) || r.Method == "CONNECT" || e.ResourceType == "websocket" ||
		len(e.Messages) > 0 && string(e.Messages) != "null" {
		return nil
	}
	t := Target{Method: r.Method, URL: request.EscapeTemplate(r.URL)}
	for _, h := range r.Headers {
		if !belongsToConnection(h.Name) {
			t.addHeader(Header{h.Name, request.EscapeTemplate(h.Value)})
		}
	}
	if r.Post != nil {
		if err := r.Post.addTo(&t); err != nil {
			return err
		}
	}
	if size := e.bodySize(); size > 0 && t.Body.Text == "" {
		return fmt.Errorf("it was sent with a body of %d bytes, which the file does not hold", size)
	}
	if err := t.check(); err != nil {
		return err
	}
	f.Targets = append(f.Targets, t)
	return nil
}

// bodySize returns the size of the body that was sent, 0 if the entry does not
// have it. Recorders leave out bodies that are binary or have several parts.
func (e *harEntry) bodySize() int64 {
	if e.Request.Method == "GET" || e.Request.Method == "HEAD" {
		return 0
	}
	size := e.Request.Size
	for _, h := range e.Request.Headers {
		if strings.EqualFold(h.Name, "Content-Length") {
			if n, err := strconv.ParseInt(h.Value, 10, 64); err == nil {
				size = max(size, n)
			}
		}
	}
	return size
}

// belongsToConnection reports whether a field belongs to the recorded connection
// (RFC 9110 section 7.6.1) or is a pseudo-header of HTTP/2 or HTTP/3. Host is one
// of them: it comes from the URL, so that Rebase changes it.
func belongsToConnection(name string) bool {
	switch strings.ToLower(name) {
	case "host", "connection", "keep-alive", "proxy-connection", "proxy-authorization",
		"te", "trailer", "transfer-encoding", "upgrade", "http2-settings":
		return true
	}
	return strings.HasPrefix(name, ":")
}

// addTo adds the body. The text is the body that was sent. Files without it have
// parameters.
func (p *harPost) addTo(t *Target) error {
	kind := Header{"Content-Type", request.EscapeTemplate(p.MimeType)}
	switch {
	case p.Text != "" && p.Encoding == "base64":
		text, err := base64.StdEncoding.DecodeString(p.Text)
		if err != nil {
			return fmt.Errorf("postData: %w", err)
		}
		t.Body.Text = request.EscapeTemplate(string(text))
	case p.Text != "":
		t.Body.Text = request.EscapeTemplate(p.Text)
	case len(p.Params) == 0:
		return nil
	case strings.HasPrefix(strings.ToLower(p.MimeType), "multipart/form-data"):
		var err error
		if t.Body, kind, err = p.form(); err != nil {
			return fmt.Errorf("postData: %w", err)
		}
		t.removeHeader("Content-Type") // which has another boundary
	default:
		t.Body.Text = request.EscapeTemplate(p.encodedParams())
	}
	if kind.Value != "" && !t.hasHeader("Content-Type") {
		t.Header = append(t.Header, kind)
	}
	return nil
}

func (p *harPost) form() (Body, Header, error) {
	var fields []FormField
	for _, param := range p.Params {
		fields = append(fields, FormField{
			Name: request.EscapeTemplate(param.Name), Value: request.EscapeTemplate(param.Value),
			Filename: request.EscapeTemplate(param.FileName), ContentType: request.EscapeTemplate(param.ContentType),
		})
	}
	return Form(fields, 0)
}

// encodedParams keeps the order of the parameters, unlike url.Values.
func (p *harPost) encodedParams() string {
	var pairs []string
	for _, param := range p.Params {
		pairs = append(pairs, url.QueryEscape(param.Name)+"="+url.QueryEscape(param.Value))
	}
	return strings.Join(pairs, "&")
}
