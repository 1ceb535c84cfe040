package proxy

import (
	"bytes"
	"io"
	"sync"

	"github.com/weirhq/weir/internal/httpsyntax"
)

const (
	// answerBuffer is how much of an answer is held at a time.
	answerBuffer = 32 << 10
	// leastRoom is the least that is read of a body at a time, however little
	// its client takes.
	leastRoom = 4 << 10
)

type bodyFraming uint8

const (
	noBody      bodyFraming = iota
	lengthBody              // as many bytes as Content-Length says
	chunkedBody             // RFC 9112 section 7.1
	closeBody               // until the connection is closed
)

// An answer is what arrives on an upstream connection. What was received but not
// handed on yet stands in buf, between r and w. That is a block of a pool, which
// an answer has only while there is something in it: whoever waits, for the
// upstream or for the client, gives it back. So heads and trailers are kept
// apart, where the strings of their fields point to.
type answer struct {
	block  *[answerBuffer]byte // that buf is; nil for a longer one of its own
	buf    []byte
	r, w   int
	atMost int    // what one read takes; 0 for what there is room for
	kept   []byte // the heads that were read, and the trailers

	maxFields int // of the head, and of the trailers

	statusLine
	fields  []Field
	framing bodyFraming
	left    int64 // of the body, or of the chunk that is being read
	chunk   chunkState
	close   bool // the upstream will close, or cannot be trusted to go on
	trailer []Field
}

var blocks = sync.Pool{New: func() any { return new([answerBuffer]byte) }}

func (a *answer) reset() {
	a.r, a.atMost = a.w, 0
	a.giveBack()
	a.kept = keepBytes(a.kept)
	a.restart()
}

// giveBack lets go of the buffer, unless something in it is still to be read.
func (a *answer) giveBack() {
	if a.r < a.w {
		return
	}
	if a.block != nil {
		blocks.Put(a.block)
	}
	a.block, a.buf, a.r, a.w = nil, nil, 0, 0
}

// heard tells whether anything of the answer has come.
func (a *answer) heard() bool { return a.w > 0 || len(a.kept) > 0 }

// keep copies what is to stay until the next reset.
func (a *answer) keep(b []byte) []byte {
	from := len(a.kept)
	a.kept = append(a.kept, b...)
	return a.kept[from:]
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

// room returns the space for the next read: behind w if there is some, by
// moving what is unread to the front, or in a longer buffer.
func (a *answer) space() []byte {
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

// lengthen moves a buffer that is full of what is unread to one of twice its
// length.
func (a *answer) lengthen() {
	long := make([]byte, 2*len(a.buf))
	n := copy(long, a.buf)
	a.r = a.w
	a.giveBack()
	a.buf, a.w = long, n
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

// A waiter reads more of an answer into its room, and may do something first when
// that would mean to wait.
type waiter func(a *answer) (int, error)

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
