package proxying

import (
	"bytes"

	"github.com/weirhq/weir/internal/http2"
	"github.com/weirhq/weir/internal/httpsyntax"
	"github.com/weirhq/weir/internal/proxying/internal/pool"
)

// streamHead returns the head of the request in HTTP/2. It is made of the head in HTTP/1.1, so
// that the rules for fields are the same.
func (x *Exchange) streamHead(overTLS bool) *http2.Head {
	h := http2.NewHead()
	_, rest, _ := bytes.Cut(x.head[:x.headEnd], crlf)
	host, rest := cutField(rest) // the first field is Host
	scheme := "http"
	if overTLS {
		scheme = "https"
	}
	h.Add(":method", x.Method)
	h.Add(":scheme", scheme)
	if host.Value != "" {
		h.Add(":authority", host.Value)
	}
	h.Add(":path", httpsyntax.View(x.target()))
	for len(rest) > len(crlf) {
		var f Field
		if f, rest = cutField(rest); !ofHTTP1(f.Name) {
			h.Add(f.Name, f.Value)
		}
	}
	return h
}

// target returns the target in the head of the request.
func (x *Exchange) target() []byte {
	target := x.head[len(x.Method)+1:]
	return target[:bytes.IndexByte(target, ' ')]
}

var crlf = []byte("\r\n")

// cutField returns the first field of a head that writeHead has written, and the rest.
func cutField(b []byte) (f Field, rest []byte) {
	line, rest, _ := bytes.Cut(b, crlf)
	name, value, _ := bytes.Cut(line, []byte(": "))
	return Field{httpsyntax.View(name), httpsyntax.View(value)}, rest
}

// ofHTTP1 reports whether a field of a request concerns only connections of HTTP/1.
func ofHTTP1(name string) bool {
	switch len(name) {
	case len("Upgrade"):
		return httpsyntax.EqualFold(name, "Upgrade")
	case len("Connection"):
		return httpsyntax.EqualFold(name, "Connection")
	case len("Transfer-Encoding"):
		return httpsyntax.EqualFold(name, "Transfer-Encoding")
	}
	return false
}

// sendOnStream sends the body of the request. An error of it is not the end if the response has
// arrived.
func (t *transfer) sendOnStream() error {
	x := t.x
	if x.upload != nil {
		x.upload.Begin(t.c, nil)
		return nil
	}
	if body := x.head[x.headEnd:]; len(body) > 0 && !t.expecting {
		if _, err := t.c.Stream.Write(body, true); err != nil && kindOf(err) == Timeout {
			return err
		}
	}
	return nil
}

// readStreamHead reads the next head of a response.
func (t *transfer) readStreamHead(maxFields int) error {
	a := &t.x.response
	a.Restart()
	t.c.ExpectHead()
	if _, err := t.await(a); err != nil {
		return err
	}
	return a.SetHead(&t.c.Response, t.x.Method, maxFields)
}

// releaseStream ends the use of a stream by an attempt.
func (t *transfer) releaseStream(c *pool.Conn) {
	x, a := t.x, &t.x.response
	a.TakeAll()
	a.GiveBack()
	u := x.upload
	if u != nil && !u.Whole() {
		u.StopSending()
	}
	c.Close()
	if u == nil || !u.Uses(c) {
		c.FreeStream()
	}
}
