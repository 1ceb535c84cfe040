package proxy

import (
	"bytes"
	"io"

	"github.com/weirhq/weir/internal/httpsyntax"
)

const (
	// answerBuffer is how much of an answer is held at a time.
	answerBuffer = 32 << 10
	// minRoom is the least space that a body is read into: behind a head that
	// leaves less, another buffer begins.
	minRoom = 4 << 10
)

type bodyFraming uint8

const (
	noBody      bodyFraming = iota
	lengthBody              // as many bytes as Content-Length says
	chunkedBody             // RFC 9112 section 7.1
	closeBody               // until the connection is closed
)

// An answer is what arrives on an upstream connection. Its buffer holds, from
// the front, the heads that were read (the strings of their fields point into
// them, so they stay where they are) and behind start what was received but
// not handed on yet:
//
//	HTTP/1.1 200 OK\r\n...\r\n\r\n | the body, as it passes |
//	                               start       r        w   len(buf)
type answer struct {
	buf   []byte
	start int
	r, w  int

	statusLine
	fields  []Field
	framing bodyFraming
	left    int64 // of the body, or of the chunk that is being read
	chunk   chunkState
	close   bool // the upstream will close, or cannot be trusted to go on
	trailer []Field
}

func (a *answer) reset() {
	if cap(a.buf) > bufferCeiling {
		a.buf = nil
	}
	a.start, a.r, a.w = 0, 0, 0
	a.restart()
}

// restart forgets the head, for the next one on the same connection.
func (a *answer) restart() {
	a.statusLine = statusLine{}
	a.fields = keep(a.fields)
	a.framing, a.left, a.chunk, a.close = noBody, 0, chunkSize, false
	a.trailer = keep(a.trailer)
}

// surplus tells whether bytes arrived that belong to no answer.
func (a *answer) surplus() bool { return a.r < a.w }

// room makes space for the next read: behind w if there is some, by moving
// what is unread to start, or in a new buffer.
func (a *answer) room() {
	if a.buf == nil {
		a.buf = make([]byte, answerBuffer)
	}
	if a.r == a.w {
		a.r, a.w = a.start, a.start
		if len(a.buf)-a.start < minRoom {
			a.buf = make([]byte, answerBuffer)
			a.start, a.r, a.w = 0, 0, 0
		}
	}
	if a.w < len(a.buf) {
		return
	}
	if a.r > a.start {
		a.w = a.start + copy(a.buf[a.start:], a.buf[a.r:a.w])
		a.r = a.start
		return
	}
	unread := a.buf[a.r:a.w]
	a.buf = make([]byte, max(answerBuffer, 2*len(unread)))
	a.start, a.r, a.w = 0, 0, copy(a.buf, unread)
}

// readHead reads the next head and decides how the body is framed. method is
// that of the request.
func (a *answer) readHead(read waiter, method string) error {
	a.restart()
	seen := 0 // bytes known to hold no end of the head
	for {
		unread := a.buf[a.r:a.w]
		if i := bytes.Index(unread[seen:], []byte("\r\n\r\n")); i >= 0 {
			return a.parseHead(unread[:seen+i+4], method)
		}
		seen = max(0, len(unread)-3)
		if len(unread) >= maxAnswerHead {
			return malformed("the head is longer than %d bytes", maxAnswerHead)
		}
		if err := checkBeginning(unread); err != nil {
			return err
		}
		if err := a.fill(read); err != nil {
			return err
		}
	}
}

// checkBeginning refuses early what cannot become an answer, so that an
// upstream that speaks another protocol is not waited for.
func checkBeginning(b []byte) error {
	const version = "HTTP/1."
	n := min(len(b), len(version))
	if string(b[:n]) != version[:n] {
		return malformed("it begins with %q", beginning(b))
	}
	if i := bytes.IndexByte(b, '\n'); i > 0 && b[i-1] != '\r' {
		return malformed("the status line does not end with CRLF")
	}
	return nil
}

func (a *answer) parseHead(head []byte, method string) error {
	a.r += len(head)
	a.start = a.r
	eol := bytes.IndexByte(head, '\n')
	if eol == 0 || head[eol-1] != '\r' {
		return malformed("the status line does not end with CRLF")
	}
	var err error
	if a.statusLine, err = parseStatusLine(head[:eol-1]); err != nil {
		return err
	}
	if a.fields, err = parseFields(a.fields, head[eol+1:len(head)-2]); err != nil {
		return err
	}
	return a.frame(method)
}

// frame decides how the body is framed, RFC 9112 section 6.3. Where that
// section allows to repair, frame refuses.
func (a *answer) frame(method string) error {
	length, chunked, err := a.framingFields()
	if err != nil {
		return err
	}
	switch {
	case a.status < 200:
		if chunked || length > 0 {
			return malformed("a body behind status %d", a.status)
		}
	case method == "HEAD" || a.status == 204 || a.status == 304:
	case chunked:
		a.framing = chunkedBody
	case length >= 0:
		a.framing, a.left = lengthBody, length
	default:
		a.framing, a.close = closeBody, true
	}
	return nil
}

// framingFields reads the fields that frame the body. length is -1 without a
// Content-Length.
func (a *answer) framingFields() (length int64, chunked bool, err error) {
	length = -1
	options := 0
	a.close = a.http10
	for i := range a.fields {
		f := &a.fields[i]
		switch f.Name {
		case "Content-Length":
			n, ok := parseLength(f.Value)
			if !ok || length >= 0 {
				return 0, false, malformed("Content-Length %.40q", f.Value)
			}
			length = n
		case "Transfer-Encoding":
			if chunked || a.http10 || !httpsyntax.EqualFold(f.Value, "chunked") {
				return 0, false, malformed("Transfer-Encoding %.40q", f.Value)
			}
			chunked = true
		case "Connection":
			a.close = a.close || lists(f.Value, "close")
			if options += countElements(f.Value); options > maxOptions {
				return 0, false, malformed("Connection lists more than %d options", maxOptions)
			}
		}
	}
	if chunked && length >= 0 {
		return 0, false, malformed("both Content-Length and Transfer-Encoding")
	}
	return length, chunked, nil
}

// parseLength parses digits, at most 18 of them.
func parseLength(s string) (int64, bool) {
	if s == "" || len(s) > 18 {
		return 0, false
	}
	var n int64
	for i := 0; i < len(s); i++ {
		if !digit(s[i]) {
			return 0, false
		}
		n = n*10 + int64(s[i]-'0')
	}
	return n, true
}

// A waiter reads more of an answer, and may do something first when that would
// mean to wait.
type waiter func(buf []byte) (int, error)

// next returns the next piece of the body as it lies in the buffer, valid until
// the following call, or io.EOF behind the last one. read is called when more
// is needed.
func (a *answer) next(read waiter) ([]byte, error) {
	switch a.framing {
	case lengthBody:
		return a.nextOfLength(read)
	case chunkedBody:
		return a.nextOfChunks(read)
	case closeBody:
		return a.nextUntilClose(read)
	}
	return nil, io.EOF
}

func (a *answer) nextOfLength(read waiter) ([]byte, error) {
	if a.left == 0 {
		return nil, io.EOF
	}
	if err := a.more(read); err != nil {
		return nil, err
	}
	return a.take(), nil
}

func (a *answer) nextUntilClose(read waiter) ([]byte, error) {
	a.left = answerBuffer
	err := a.more(read)
	if err == io.ErrUnexpectedEOF {
		return nil, io.EOF
	}
	if err != nil {
		return nil, err
	}
	return a.take(), nil
}

// take hands on what is unread of the left bytes.
func (a *answer) take() []byte {
	n := int(min(a.left, int64(a.w-a.r)))
	p := a.buf[a.r : a.r+n]
	a.r += n
	a.left -= int64(n)
	return p
}

// more makes sure that there is an unread byte. The end of the stream is
// io.ErrUnexpectedEOF: whoever asks for more knows that some is missing.
func (a *answer) more(read waiter) error {
	if a.r < a.w {
		return nil
	}
	return a.fill(read)
}

// fill reads once, behind what is unread.
func (a *answer) fill(read waiter) error {
	a.room()
	n, err := read(a.buf[a.w:])
	a.w += n
	if n > 0 {
		return nil
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return err
}
