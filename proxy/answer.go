package proxy

import (
	"bytes"
	"io"
	"sync"

	"github.com/weirhq/weir/internal/httpsyntax"
)

const (
	// answerBuffer is the size of the buffer for a response.
	answerBuffer = 32 << 10
	// leastRoom is the minimum size of a read of the body, however little the
	// client takes.
	leastRoom = 4 << 10
)

type bodyFraming uint8

const (
	noBody      bodyFraming = iota
	lengthBody              // as long as Content-Length says
	chunkedBody             // RFC 9112 section 7.1
	closeBody               // until the connection is closed
)

// An answer is the response that arrives on an upstream connection. buf[r:w]
// holds the received bytes that were not passed on yet. The buffer is a block
// of a pool. An answer has one only while it holds unread bytes, and returns it
// before it waits for the upstream or the client. Heads and trailers are
// therefore copied to kept, and the strings of their fields are views into
// that.
type answer struct {
	block  *[answerBuffer]byte // the array of buf; nil for a longer buffer
	buf    []byte
	r, w   int
	atMost int    // maximum size of one read; 0 means all free space
	kept   []byte // heads and trailers read so far

	maxFields int // of the head; also of the trailers

	statusLine
	fields  []Field
	framing bodyFraming
	left    int64 // bytes left of the body or of the current chunk
	chunk   chunkState
	close   bool // the upstream will close the connection, or its state is uncertain
	trailer []Field
}

var blocks = sync.Pool{New: func() any { return new([answerBuffer]byte) }}

func (a *answer) reset() {
	a.r, a.atMost = a.w, 0
	a.GiveBack()
	a.kept = keepBytes(a.kept)
	a.restart()
}

// GiveBack returns the buffer to the pool, unless it contains unread bytes.
func (a *answer) GiveBack() {
	if a.r < a.w {
		return
	}
	if a.block != nil {
		blocks.Put(a.block)
	}
	a.block, a.buf, a.r, a.w = nil, nil, 0, 0
}

// heard reports whether any bytes of the response have arrived.
func (a *answer) heard() bool { return a.w > 0 || len(a.kept) > 0 }

// keep copies b to memory that is valid until the next reset.
func (a *answer) keep(b []byte) []byte {
	from := len(a.kept)
	a.kept = append(a.kept, b...)
	return a.kept[from:]
}

// restart clears the head, for the next one on the same connection.
func (a *answer) restart() {
	a.statusLine = statusLine{}
	a.fields = keep(a.fields)
	a.framing, a.left, a.chunk, a.close = noBody, 0, chunkSize, false
	a.trailer = keep(a.trailer)
}

// surplus reports whether unread bytes are left, which belong to no response.
func (a *answer) surplus() bool { return a.r < a.w }

// Space returns the free space for the next read. If there is none after w, it
// moves the unread bytes to the front or to a longer buffer.
func (a *answer) Space() []byte {
	switch {
	case a.buf == nil:
		a.block = blocks.Get().(*[answerBuffer]byte)
		a.buf = a.block[:]
	case a.r == a.w:
		a.r, a.w = 0, 0
	case a.w < len(a.buf):
	case a.r > 0:
		a.r, a.w = 0, copy(a.buf, a.buf[a.r:a.w])
	default:
		a.lengthen()
	}
	space := a.buf[a.w:]
	if a.atMost > 0 && a.atMost < len(space) {
		return space[:a.atMost]
	}
	return space
}

// lengthen moves the unread bytes of a full buffer to a buffer of twice its
// length.
func (a *answer) lengthen() {
	long := make([]byte, 2*len(a.buf))
	n := copy(long, a.buf)
	a.r = a.w
	a.GiveBack()
	a.buf, a.w = long, n
}

// readHead reads the next head and determines the framing of the body. method
// is the method of the request.
func (a *answer) readHead(read waiter, method string) error {
	a.restart()
	seen := 0 // bytes before which the head does not end
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

// checkBeginning rejects bytes that cannot become a response, so that the proxy
// does not wait for an upstream with another protocol.
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
	head = a.keep(head)
	eol := bytes.IndexByte(head, '\n')
	if eol == 0 || head[eol-1] != '\r' {
		return malformed("the status line does not end with CRLF")
	}
	var err error
	if a.statusLine, err = parseStatusLine(head[:eol-1]); err != nil {
		return err
	}
	if a.fields, err = parseFields(a.fields, head[eol+1:len(head)-2], a.maxFields); err != nil {
		return err
	}
	return a.frame(method)
}

// frame determines the framing of the body, RFC 9112 section 6.3. Where that
// section allows a repair, frame returns an error.
func (a *answer) frame(method string) error {
	length, chunked, err := a.framingFields()
	if err != nil {
		return err
	}
	switch {
	case a.status < 200:
		if chunked || length > 0 {
			return malformed("a body after status %d", a.status)
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

// framingFields reads the fields that determine the framing of the body. length
// is -1 without a Content-Length.
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

// parseLength parses up to 18 digits.
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

// A waiter reads more of a response into its space. It may take another action
// before a read that would block.
type waiter func(a *answer) (int, error)

// next returns the next part of the body as a view into the buffer, valid until
// the following call, or io.EOF after the last one. It calls read if it needs
// more bytes.
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

// take returns the unread bytes, at most left.
func (a *answer) take() []byte {
	n := int(min(a.left, int64(a.w-a.r)))
	p := a.buf[a.r : a.r+n]
	a.r += n
	a.left -= int64(n)
	return p
}

// more ensures that there is an unread byte. It returns io.ErrUnexpectedEOF at
// the end of the stream, because the caller knows that more must follow.
func (a *answer) more(read waiter) error {
	if a.r < a.w {
		return nil
	}
	return a.fill(read)
}

// fill reads once and appends to the unread bytes.
func (a *answer) fill(read waiter) error {
	n, err := read(a)
	a.w += n
	if n > 0 {
		return nil
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return err
}
