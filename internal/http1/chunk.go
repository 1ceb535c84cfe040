package http1

import (
	"github.com/weirhq/weir/internal/httphead"
	"github.com/weirhq/weir/internal/httpsyntax"
)

const (
	maxChunkDigits    = 15      // enough for a petabyte; they overflow no parser's integers
	maxExtension      = 256     // bytes of a chunk's extension in a request
	maxChunkLine      = 1 << 10 // bytes of the line of a chunk's size, with its CRLF
	maxChunkOverhead  = 16 << 10
	overheadPerChunk  = 16 // bytes besides data that each chunk may have
	overheadPerByte   = 2  // the same for each byte of data
	chunkLineBreak    = 2
	defaultMaxTrailer = DefaultMaxHead
)

// A ChunkReader decodes a body in chunks (RFC 9112, section 7.1). It holds no data. The
// zero value is at the beginning of the body of a response. A copy with other Trailers
// continues separately, for looking ahead. Goroutines must not share one.
type ChunkReader struct {
	// Request applies the stricter rules for requests, which the package documentation
	// lists.
	Request    bool
	MaxTrailer int // bytes of the trailers with their empty line; 0 means DefaultMaxHead
	MaxFields  int // of the trailers; 0 means DefaultMaxFields

	// Trailers receives the fields after the last chunk. Their spans refer to the buffer of
	// the call that returned done. If it is nil, the fields are checked and not stored.
	Trailers *Fields

	state   chunkState
	digits  uint8
	line    uint16 // bytes of the line of a chunk's size
	ext     uint16 // bytes of its extension
	left    int64  // bytes of the chunk that are left
	excess  int64  // bytes besides data above the allowance
	trailer lines
	fields  int // of the trailers
}

type chunkState uint8

const (
	chunkSize      chunkState = iota
	chunkPad                  // blanks after the size
	chunkExtension            // after the semicolon
	chunkSizeLF
	chunkData
	chunkCR
	chunkLF
	chunkTrailer
	chunkDone
)

// Reset prepares c for another body. It keeps the settings.
func (c *ChunkReader) Reset() {
	c.Trailers.reset()
	c.state, c.digits, c.line, c.ext, c.left, c.excess, c.trailer, c.fields = chunkSize, 0, 0, 0, 0, 0, lines{}, 0
}

// Next takes n bytes of buf, and data is the range of body bytes among them, which may be
// empty. done reports that the body and its trailers are complete; the other bytes of buf
// follow the message. The caller passes the bytes after the first n to the next call, and
// repeats this until Next takes no byte. It then needs more bytes after the bytes that
// are left, which are an incomplete section of trailers, or none.
//
// Errors are of type [*Error].
func (c *ChunkReader) Next(buf []byte) (data Span, n int, done bool, err error) {
	data, n, done, failure := c.next(buf)
	if failure != nil {
		if !c.Request {
			failure.Status = 502
		}
		return Span{}, 0, false, failure
	}
	return data, n, done, nil
}

func (c *ChunkReader) next(buf []byte) (data Span, n int, done bool, err *Error) {
	for i, b := range buf {
		switch c.state {
		case chunkData:
			end := i + int(min(c.left, int64(len(buf)-i)))
			if c.left -= int64(end - i); c.left == 0 {
				c.state = chunkCR
			}
			return span(i, end), end, false, nil
		case chunkTrailer:
			if i > 0 {
				return Span{}, i, false, nil
			}
			n, err := c.trailers(buf)
			return Span{}, n, n > 0, err
		case chunkDone:
			return Span{}, i, true, nil
		}
		if reason := c.step(b); reason != "" {
			return Span{}, 0, false, bad(reason, i)
		}
	}
	return Span{}, len(buf), c.state == chunkDone, nil
}

// step reads a byte that is not data.
func (c *ChunkReader) step(b byte) (reason string) {
	switch c.state {
	case chunkSize:
		return c.size(b)
	case chunkPad:
		if isBlank(b) {
			return c.count()
		}
		return c.afterSize(b)
	case chunkExtension:
		return c.extension(b)
	case chunkSizeLF:
		if b != '\n' {
			return errBareCR
		}
		return c.begin()
	case chunkCR:
		if b != '\r' {
			return errChunkEnd
		}
		c.state = chunkLF
	case chunkLF:
		if b != '\n' {
			return errChunkEnd
		}
		c.state, c.digits, c.line, c.ext = chunkSize, 0, 0, 0
	}
	return ""
}

// size reads a byte of the size, or the byte after it.
func (c *ChunkReader) size(b byte) (reason string) {
	digit, ok := httpsyntax.Hex(b)
	switch {
	case ok && c.digits == maxChunkDigits:
		return errChunkSize
	case ok:
		c.left = c.left<<4 | int64(digit)
		c.digits++
		return c.count()
	case c.digits == 0:
		return errChunkSize
	case isBlank(b) && !c.Request:
		c.state = chunkPad
		return c.count()
	}
	return c.afterSize(b)
}

// afterSize reads the byte after the size and its padding.
func (c *ChunkReader) afterSize(b byte) (reason string) {
	switch b {
	case '\r':
		c.state = chunkSizeLF
		return ""
	case '\n':
		return errBareLF
	case ';':
		c.state = chunkExtension
		return c.count()
	}
	return errChunkSize
}

func (c *ChunkReader) extension(b byte) (reason string) {
	switch {
	case b == '\r' && c.Request && c.ext == 0:
		return errChunkExt
	case b == '\r':
		c.state = chunkSizeLF
		return ""
	case b == '\n':
		return errBareLF
	case httpsyntax.IsControl(b), c.Request && c.ext == 0 && !httpsyntax.IsToken([]byte{b}), c.Request && c.ext == maxExtension:
		return errChunkExt
	}
	c.ext++
	return c.count()
}

// count counts a byte of the line of a chunk's size.
func (c *ChunkReader) count() (reason string) {
	if c.line++; c.line > maxChunkLine-chunkLineBreak {
		return errChunkLine
	}
	return ""
}

// begin begins the data of a chunk, or the trailers. Like net/http it limits the bytes
// besides data, since long extensions of short chunks cost the receiver more than the
// sender.
func (c *ChunkReader) begin() (reason string) {
	c.excess = max(c.excess+int64(c.line)+chunkLineBreak-overheadPerChunk-overheadPerByte*c.left, 0)
	switch {
	case c.excess > maxChunkOverhead:
		return errOverhead
	case c.left > 0:
		c.state = chunkData
	default:
		c.state = chunkTrailer
	}
	return ""
}

// trailers parses the trailers at the beginning of buf. n is 0 while they are incomplete.
func (c *ChunkReader) trailers(buf []byte) (n int, err *Error) {
	limit, maxFields := c.MaxTrailer, c.MaxFields
	if limit <= 0 {
		limit = defaultMaxTrailer
	}
	if maxFields <= 0 {
		maxFields = DefaultMaxFields
	}
	for cut := buf[:min(len(buf), limit)]; ; {
		f, end, err := c.trailer.nextField(cut)
		switch {
		case err != nil:
			return 0, err
		case end < 0 && len(buf) >= limit:
			return 0, &Error{Status: 431, Reason: errHead, Pos: limit}
		case end < 0:
			return 0, nil
		case f.Name.End == 0:
			c.state = chunkDone
			return end + 2, nil
		case c.fields == maxFields:
			return 0, &Error{Status: 431, Reason: errFields, Pos: int(f.Name.Start)}
		case c.Request && httphead.OnlyInHead(f.Name.Of(cut)):
			return 0, bad(httphead.BadTrailer, int(f.Name.Start))
		}
		c.fields++
		if c.Trailers != nil {
			c.Trailers.add(f)
		}
	}
}
