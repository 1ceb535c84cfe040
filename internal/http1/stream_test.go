package http1_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/weirhq/weir/internal/http1"
)

// A message is a request or a response, as text.
type message struct {
	first   string // "GET /path HTTP/1.1 of host" or "200 OK"
	fields  []string
	framing http1.Framing
	close   bool
	length  int64
	body    string
	trailer []string
	end     int // position in the stream
}

// A stream parses the bytes of a connection like a server or client: it keeps the bytes
// that were not taken, and offers them again together with later ones.
type stream struct {
	response, noBody bool

	request  http1.RequestParser
	answer   http1.ResponseParser
	chunks   http1.ChunkReader
	fields   http1.Fields // of the head, then of the trailers
	buf      []byte
	taken    int // bytes of the stream before buf
	inBody   bool
	left     int64
	current  message
	messages []message
	err      *http1.Error // its position is in the stream
}

// read returns the result of parsing a stream in pieces of the given size.
func read(response, noBody bool, wire []byte, size int) *stream {
	s := &stream{response: response, noBody: noBody}
	s.chunks.Request, s.chunks.Trailers = !response, &s.fields
	s.request.Fields, s.answer.Fields = &s.fields, &s.fields
	for piece := range slices.Chunk(wire, size) {
		s.buf = append(slices.Clone(s.buf), piece...) // another buffer each time
		for s.err == nil && s.step() {
		}
		if s.err != nil {
			break
		}
	}
	return s
}

// finish ends a response that ends with the connection.
func (s *stream) finish() *stream {
	if s.err == nil && s.inBody && s.current.framing == http1.BodyUntilClose {
		s.done()
	}
	return s
}

// step takes bytes and reports whether it should be called again.
func (s *stream) step() bool {
	if !s.inBody {
		return s.head()
	}
	switch s.current.framing {
	case http1.BodyChunked:
		return s.chunk()
	case http1.BodyUntilClose:
		s.current.body += string(s.buf)
		s.take(len(s.buf))
		return false
	}
	n := int(min(s.left, int64(len(s.buf))))
	s.current.body += string(s.buf[:n])
	s.take(n)
	if s.left -= int64(n); s.left > 0 {
		return false
	}
	s.done()
	return true
}

func (s *stream) take(n int) {
	s.buf = s.buf[n:]
	s.taken += n
}

func (s *stream) done() {
	s.current.end = s.taken
	s.messages = append(s.messages, s.current)
	s.inBody, s.current = false, message{}
}

func (s *stream) fail(err error) {
	if !errors.As(err, &s.err) {
		panic(err)
	}
	s.err.Pos += s.taken
}

func (s *stream) head() bool {
	var n int
	var err error
	var m *http1.Message
	if s.response {
		n, err = s.answer.Parse(s.buf, s.noBody)
		m = &s.answer.Head.Message
	} else {
		n, err = s.request.Parse(s.buf)
		m = &s.request.Head.Message
	}
	if err != nil {
		s.fail(err)
		return false
	}
	if n == 0 {
		return false
	}
	first := ""
	if h := &s.answer.Head; s.response {
		first = fmt.Sprintf("%d %s", h.Status, h.Reason.Of(s.buf))
	} else {
		h := &s.request.Head
		first = fmt.Sprintf("%s %s %v of %s", h.Method.Of(s.buf), h.Target.Of(s.buf), h.HTTP10, h.Host.Of(s.buf))
	}
	s.current = message{first: first, fields: text(s.buf, &s.fields), framing: m.Framing, close: m.Close, length: m.Length}
	s.inBody, s.left = true, max(m.Length, 0)
	if m.Framing != http1.BodyLength {
		s.left = 0
	}
	s.chunks.Reset()
	s.take(n)
	return true
}

func (s *stream) chunk() bool {
	data, n, done, err := s.chunks.Next(s.buf)
	if err != nil {
		s.fail(err)
		return false
	}
	s.current.body += string(data.Of(s.buf))
	if done {
		s.current.trailer = text(s.buf, &s.fields)
	}
	s.take(n)
	if done {
		s.done()
	}
	return n > 0
}

// text returns the fields as "Name: value".
func text(buf []byte, fields *http1.Fields) (all []string) {
	for i := range fields.Len() {
		f := fields.At(i)
		all = append(all, string(f.Name.Of(buf))+": "+string(f.Value.Of(buf)))
	}
	return all
}

// checkPieces parses wire in pieces of the given size, and compares the result with that
// of parsing it at once.
func checkPieces(t testing.TB, response, noBody bool, wire []byte, size int) {
	t.Helper()
	whole := read(response, noBody, wire, max(len(wire), 1))
	pieces := read(response, noBody, wire, size)
	if got, want := fmt.Sprintf("%+v %v", pieces.messages, pieces.err), fmt.Sprintf("%+v %v", whole.messages,
		whole.err); got != want {
		t.Errorf("%.200q in pieces of %d: %s; at once: %s", wire, size, got, want)
	}
}
