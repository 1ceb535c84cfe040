package front

import (
	"bytes"
	"io"

	"github.com/weirhq/weir/front/config"
)

// framing parses the bytes of an HTTP/1 client before net/http does: heads, bodies,
// chunks and trailers. net/http silently repairs requests that other parsers read
// differently (both Content-Length and Transfer-Encoding, Transfer-Encoding in
// HTTP/1.0, line ends without CR, folded lines). framing rejects every request that
// a proxy or an upstream could read differently (RFC 9112, sections 2.2, 5, 6 and 7).
// It leaves requests that net/http itself rejects to net/http.
//
// A line is checked before its last byte is passed on, so net/http never gets the
// end of a rejected head, however it is split. The zero value is at the beginning
// of a connection.
type framing struct {
	state state
	left  uint64 // remaining bytes of the body or chunk
	line  []byte // an unfinished line
	again bool   // not the first head of the connection
	head  head
	err   error // reason why nothing more is passed on
}

type state uint8

const (
	atRequestLine state = iota
	atField
	inBody
	atChunkSize
	inChunk
	atChunkEnd
	atTrailer
	atPreface    // after the first line of the HTTP/2 preface
	atPrefaceSM  // its third line
	atPrefaceEnd // its fourth line
	outOfSight   // HTTP/2, or a tunnel
)

const (
	// maxHead is the maximum length of a head, with any limits.
	maxHead = config.MaxHeaders
	// maxLine is the maximum length of an unfinished line. net/http rejects a head
	// before that.
	maxLine = 2 * maxHead
	// keptLine is the maximum length of a line buffer that is used again.
	keptLine = 4 << 10
)

// An ambiguity is the reason why bytes of a client are not passed on. It ends the
// connection.
type ambiguity string

func (a ambiguity) Error() string { return string(a) }

const (
	errBareLF   ambiguity = "a line ends without a CR"
	errBareCR   ambiguity = "a line contains a CR"
	errLongLine ambiguity = "a line is too long"
	errPreface  ambiguity = "the preface of HTTP/2 is broken"
)

// inHead reports whether a head has begun and not ended.
func (f *framing) inHead() bool {
	return f.state == atField || f.state == atRequestLine && len(f.line) > 0
}

// inspect parses bytes and returns how many of them may be passed on: all, or those
// before the line that f.err is about.
func (f *framing) inspect(p []byte) int {
	i := 0
	for i < len(p) && f.err == nil {
		switch f.state {
		case outOfSight:
			return len(p)
		case inBody, inChunk:
			i += f.skip(len(p) - i)
		case atField:
			if len(f.line) == 0 {
				i += plainFields(p[i:])
			}
			fallthrough
		default:
			n, line := f.nextLine(p[i:])
			if line != nil {
				f.readLine(line[:len(line)-2])
			}
			if f.err == nil || f.err == io.EOF {
				i += n
			}
		}
	}
	return i
}

// plainFields returns the length of the complete fields at the beginning of p that
// do not affect the framing. Most fields are like that.
func plainFields(p []byte) int {
	n := 0
	for n < len(p) && !telling[p[n]] {
		end := bytes.IndexByte(p[n:], '\r')
		if end < 0 || n+end+1 == len(p) || p[n+end+1] != '\n' || bytes.IndexByte(p[n:n+end], '\n') >= 0 {
			break
		}
		n += end + 2
	}
	return n
}

// telling are the first bytes of fields that readField checks, and bytes that cannot
// begin a field.
var telling = [256]bool{
	'C': true, 'c': true, 'E': true, 'e': true, 'H': true, 'h': true, 'T': true, 't': true,
	' ': true, '\t': true, '\r': true, '\n': true,
}

// skip skips up to n bytes of a body.
func (f *framing) skip(n int) int {
	if f.left > uint64(n) {
		f.left -= uint64(n)
		return n
	}
	n = int(f.left)
	f.left = 0
	if f.state == inChunk {
		f.state = atChunkEnd
	} else {
		f.state = atRequestLine
	}
	return n
}

// nextLine returns how many bytes of p belong to the current line, and the line with
// its CRLF if it is complete.
func (f *framing) nextLine(p []byte) (n int, line []byte) {
	end := bytes.IndexByte(p, '\n')
	if end < 0 {
		f.keep(p)
		return len(p), nil
	}
	line = p[:end+1]
	if len(f.line) > 0 {
		f.keep(line)
		line, f.line = f.line, f.line[:0]
		if cap(line) > keptLine {
			f.line = nil
		}
	}
	switch cr := bytes.IndexByte(line, '\r'); {
	case cr < 0:
		f.err = errBareLF
	case cr < len(line)-2:
		f.err = errBareCR
	default:
		return end + 1, line
	}
	return 0, nil
}

// keep adds a piece to the unfinished line. It rejects a CR within the line here,
// because the end of the line may never arrive.
func (f *framing) keep(piece []byte) {
	from := max(len(f.line)-1, 0)
	f.line = append(f.line, piece...)
	cr := bytes.IndexByte(f.line[from:], '\r')
	switch {
	case len(f.line) > maxLine:
		f.err = errLongLine
	case cr >= 0 && from+cr+1 < len(f.line) && f.line[from+cr+1] != '\n':
		f.err = errBareCR
	}
}

// readLine parses a line, without its CRLF.
func (f *framing) readLine(line []byte) {
	if f.err != nil {
		return
	}
	switch f.state {
	case atRequestLine:
		f.readRequestLine(line)
	case atField:
		f.readField(line)
	case atChunkSize:
		f.readChunkSize(line)
	case atChunkEnd:
		f.expect(line, "", atChunkSize, errChunkEnd)
	case atTrailer:
		f.readTrailer(line)
	case atPreface:
		f.expect(line, "", atPrefaceSM, errPreface)
	case atPrefaceSM:
		f.expect(line, "SM", atPrefaceEnd, errPreface)
	case atPrefaceEnd:
		f.expect(line, "", outOfSight, errPreface)
	}
}

// expect changes to the next state. The line must be the wanted one.
func (f *framing) expect(line []byte, want string, next state, otherwise ambiguity) {
	f.state = next
	if string(line) != want {
		f.err = otherwise
	}
}

// endHead determines what follows a head.
func (f *framing) endHead() {
	h := &f.head
	switch {
	case h.absolute && !h.hosted:
		f.err = errHost
	case h.doomed:
		f.err = io.EOF // net/http responds; if it does not, there is nothing more to read
	case h.coded:
		f.state = atChunkSize
	case h.length > 0:
		f.state, f.left = inBody, uint64(h.length)
	default:
		f.state = atRequestLine
	}
}
