package load

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// A harEntry is what is read of an entry in HTTP Archive 1.2 and of the fields
// that browsers add.
type harEntry struct {
	ResourceType string          `json:"_resourceType"`
	Messages     json.RawMessage `json:"_webSocketMessages"`
	Request      struct {
		Method  string
		URL     string
		Headers []struct{ Name, Value string }
		Post    *harPost `json:"postData"`
		Size    int64    `json:"bodySize"` // -1 or 0 when it is not known
	}
}

type harPost struct {
	MimeType string
	Text     string
	Encoding string // "base64", by some
	Params   []struct{ Name, Value, FileName, ContentType string }
}

// isHAR tells HAR, whose one object has the key "log", from lines of objects.
func (f *targetFile) isHAR() bool {
	d := json.NewDecoder(bytes.NewReader(f.data))
	if _, err := d.Token(); err != nil {
		return false
	}
	key, err := d.Token()
	return err == nil && key == "log"
}

// har reads entry by entry; what answers held is passed over.
func (f *targetFile) har() error {
	// A decoder of a stream does not say where its errors are.
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
		return f.addEntry(&e)
	}
	err := eachKey(d, "log", func() error {
		return eachKey(d, "entries", func() error { return eachElement(d, entry) })
	})
	if err == nil && entries > 0 && len(f.targets) == 0 {
		err = fmt.Errorf("none of the %d entries is a request over http or https", entries)
	}
	if err != nil {
		return f.fail(offset, err)
	}
	return nil
}

// skipSpace goes from behind an element to the next one.
func (f *targetFile) skipSpace(offset int) int {
	rest := f.data[offset:]
	return offset + len(rest) - len(bytes.TrimLeft(rest, " \t\r\n,"))
}

// eachKey reads an object and calls read for the value of one key.
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

// addEntry adds an entry's request, if it was one over HTTP.
func (f *targetFile) addEntry(e *harEntry) error {
	r := &e.Request
	if !isURL(r.URL) || r.Method == "CONNECT" || e.ResourceType == "websocket" || len(e.Messages) > 0 && string(e.Messages) != "null" {
		return nil
	}
	t := Target{Method: r.Method, URL: escapeTemplate(r.URL)}
	for _, h := range r.Headers {
		if !belongsToConnection(h.Name) {
			t.addHeader(Header{h.Name, escapeTemplate(h.Value)})
		}
	}
	if r.Post != nil {
		if err := r.Post.addTo(&t); err != nil {
			return err
		}
	}
	if size := e.bodySize(); size > 0 && t.Body.Text == "" {
		return fmt.Errorf("%s %s was sent with a body of %d bytes, which the file does not hold; take the entry out, or record it with its body", r.Method, r.URL, size)
	}
	if _, err := parseTarget(&t); err != nil {
		return err
	}
	f.targets = append(f.targets, t)
	return nil
}

// bodySize is how much was sent, as far as the entry says so. Recorders leave
// bodies out that are binary or made of several parts.
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

// belongsToConnection tells the fields that the recorded connection had for
// itself, RFC 9110 section 7.6.1, and the pseudo fields of HTTP/2 and 3. Host is
// made from the URL, so that it follows when the targets are rebased.
func belongsToConnection(name string) bool {
	switch strings.ToLower(name) {
	case "host", "connection", "keep-alive", "proxy-connection", "proxy-authorization",
		"te", "trailer", "transfer-encoding", "upgrade", "http2-settings":
		return true
	}
	return strings.HasPrefix(name, ":")
}

// addTo adds the body. The text is what was sent; parameters stand for it in
// files that have none.
func (p *harPost) addTo(t *Target) error {
	kind := Header{"Content-Type", escapeTemplate(p.MimeType)}
	switch {
	case p.Text != "" && p.Encoding == "base64":
		text, err := base64.StdEncoding.DecodeString(p.Text)
		if err != nil {
			return fmt.Errorf("postData: %w", err)
		}
		t.Body.Text = escapeTemplate(string(text))
	case p.Text != "":
		t.Body.Text = escapeTemplate(p.Text)
	case len(p.Params) == 0:
		return nil
	case strings.HasPrefix(strings.ToLower(p.MimeType), "multipart/form-data"):
		var err error
		if t.Body, kind, err = p.form(); err != nil {
			return fmt.Errorf("postData: %w", err)
		}
		t.removeHeader("Content-Type") // it has another boundary
	default:
		t.Body.Text = escapeTemplate(p.encodedParams())
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
			Name: escapeTemplate(param.Name), Value: escapeTemplate(param.Value),
			Filename: escapeTemplate(param.FileName), ContentType: escapeTemplate(param.ContentType),
		})
	}
	return Form(fields, 0)
}

// encodedParams keeps the order of the parameters, which url.Values would not.
func (p *harPost) encodedParams() string {
	var pairs []string
	for _, param := range p.Params {
		pairs = append(pairs, url.QueryEscape(param.Name)+"="+url.QueryEscape(param.Value))
	}
	return strings.Join(pairs, "&")
}

func (t *Target) hasHeader(name string) bool {
	for _, h := range t.Header {
		if strings.EqualFold(h.Name, name) {
			return true
		}
	}
	return false
}

func (t *Target) removeHeader(name string) {
	var kept []Header
	for _, h := range t.Header {
		if !strings.EqualFold(h.Name, name) {
			kept = append(kept, h)
		}
	}
	t.Header = kept
}
