package proxy

import (
	"bytes"
	"errors"
	"io"

	"github.com/weirhq/weir/internal/httpsyntax"
)

// maxChunkLine limits the first line of a chunk, including its extensions.
const maxChunkLine = 1 << 10

// chunkState is the position of an answer in the chunked coding.
type chunkState uint8

const (
	chunkSize chunkState = iota // before the line with a size
	chunkData                   // inside a chunk
	chunkEnd                    // before the CRLF after a chunk
	chunkDone                   // after the trailers
)

// nextOfChunks decodes RFC 9112 section 7.1. It skips extensions. A bare LF, an
// empty size, or anything else that two parsers could understand differently is
// an error.
func (a *answer) nextOfChunks(read waiter) ([]byte, error) {
	for {
		switch a.chunk {
		case chunkSize:
			if err := a.beginChunk(read); err != nil {
				return nil, err
			}
		case chunkData:
			if err := a.more(read); err != nil {
				return nil, err
			}
			p := a.take()
			if a.left == 0 {
				a.chunk = chunkEnd
			}
			return p, nil
		case chunkEnd:
			line, err := a.line(read, 2)
			if err != nil {
				return nil, err
			}
			if len(line) != 0 {
				return nil, malformed("a chunk is longer than its size")
			}
			a.chunk = chunkSize
		case chunkDone:
			return nil, io.EOF
		}
	}
}

// checkArrived checks the part of the chunked body that arrived with the head,
// and leaves it unread.
func (a *answer) checkArrived() error {
	if a.framing != chunkedBody {
		return nil
	}
	before := *a
	for {
		if _, err := a.next(notYet); err != nil {
			*a = before
			if err == errNotYet || err == io.EOF {
				return nil
			}
			return err
		}
	}
}

var errNotYet = errors.New("more has not arrived yet")

// notYet is a waiter that reads nothing.
func notYet(*answer) (int, error) { return 0, errNotYet }

func (a *answer) beginChunk(read waiter) error {
	line, err := a.line(read, maxChunkLine)
	if err != nil {
		return err
	}
	size, err := parseChunkSize(line)
	if err != nil {
		return err
	}
	if size > 0 {
		a.left, a.chunk = size, chunkData
		return nil
	}
	if err := a.readTrailer(read); err != nil {
		return err
	}
	a.chunk = chunkDone
	return nil
}

// parseChunkSize parses the first line of a chunk without its CRLF: hexadecimal
// digits, optional blanks, and optional extensions after a semicolon. Some
// servers pad the size with blanks, and all other parsers accept them.
func parseChunkSize(line []byte) (int64, error) {
	digits := line
	if i := bytes.IndexByte(line, ';'); i >= 0 {
		digits = line[:i]
		if !httpsyntax.IsPlain(line[i:]) {
			return 0, malformed("the extension of chunk %q holds a control byte", beginning(line))
		}
	}
	digits = bytes.TrimRight(digits, " \t")
	if len(digits) == 0 || len(digits) > 15 {
		return 0, malformed("chunk size %q", beginning(line))
	}
	var n int64
	for _, c := range digits {
		v, ok := httpsyntax.Hex(c)
		if !ok {
			return 0, malformed("chunk size %q", beginning(line))
		}
		n = n<<4 | int64(v)
	}
	return n, nil
}

// line returns the next line without its CRLF. With it the line may have at
// most limit bytes. It is valid until the next read.
func (a *answer) line(read waiter, limit int) ([]byte, error) {
	for {
		unread := a.buf[a.r:a.w]
		if i := bytes.IndexByte(unread, '\n'); i >= 0 && i < limit {
			if i == 0 || unread[i-1] != '\r' {
				return nil, malformed("a line of the chunked coding does not end with CRLF")
			}
			a.r += i + 1
			return unread[:i-1], nil
		}
		if len(unread) >= limit {
			return nil, malformed("a line of the chunked coding is longer than %d bytes", limit)
		}
		if err := a.fill(read); err != nil {
			return nil, err
		}
	}
}

// readTrailer reads the fields after the last chunk.
func (a *answer) readTrailer(read waiter) error {
	end := 0
	for {
		unread := a.buf[a.r:a.w]
		i := bytes.IndexByte(unread[end:], '\n')
		switch {
		case i == 1 && unread[end] == '\r':
			fields := a.keep(unread[:end])
			a.r += end + 2
			var err error
			a.trailer, err = parseFields(a.trailer, fields, a.maxFields)
			return err
		case i == 0:
			return malformed("a line of the trailers does not end with CRLF")
		case i > 0:
			end += i + 1
		case len(unread) >= maxAnswerHead:
			return malformed("the trailers are longer than %d bytes", maxAnswerHead)
		default:
			if err := a.fill(read); err != nil {
				return err
			}
		}
	}
}
