package front

import (
	"bytes"
	"io"

	"github.com/weirhq/weir/front/config"
)

// framing follows the bytes of a client that speaks HTTP/1, from head to body to
// head, under net/http and before it. net/http repairs in silence what another
// reader would take differently (a Content-Length beside a Transfer-Encoding, a
// Transfer-Encoding in HTTP/1.0, line ends without CR, folded lines), and tells
// its handlers nothing of it; what a reader before or behind the door may have
// taken differently is refused here, RFC 9112 sections 2.2, 5, 6 and 7. What
// net/http refuses by itself is left to it.
//
// A line is checked before its last byte is passed on, so net/http never sees
// the end of a head that was refused, whatever pieces it came in. The zero value
// stands at the beginning of a connection.
type framing struct {
	state state
	left  uint64 // bytes that the body or chunk still has
	line  []byte // a line whose end has not come
	again bool   // a head was read before
	head  head
	err   error // why nothing more is passed on
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
	atPreface    // behind the first line of HTTP/2's preface
	atPrefaceSM  // its third line
	atPrefaceEnd // its fourth
	outOfSight   // HTTP/2, or a tunnel
)

const (
	// maxHead bounds the head of a request, whatever the limits say.
	maxHead = config.MaxHeaders
	// maxLine bounds an unfinished line. net/http ends a head before.
	maxLine = 2 * maxHead
	// keptLine is how long a line may be whose buffer is used again.
	keptLine = 4 << 10
)

// An ambiguity is why the bytes of a client are not passed on. The connection
// ends there.
type ambiguity string

func (a ambiguity) Error() string { return string(a) }

const (
	errBareLF   ambiguity = "a line ends without a CR"
	errBareCR   ambiguity = "a CR stands within a line"
	errLongLine ambiguity = "a line is too long"
	errPreface  ambiguity = "the preface of HTTP/2 is broken"
)

// inHead tells whether a head has begun and not ended.
func (f *framing) inHead() bool {
	return f.state == atField || f.state == atRequestLine && len(f.line) > 0
}

// inspect is shown what was read, and returns how much of it may be passed on:
// all of it, or what stands before the line that f.err is about.
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

// plainFields returns how long the whole fields are that p begins with and
// whose names decide nothing. Most of a head is such fields.
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

// telling are the bytes that a field begins with which is looked at, and those
// that no field begins with.
var telling = [256]bool{
	'C': true, 'c': true, 'E': true, 'e': true, 'H': true, 'h': true, 'T': true, 't': true,
	' ': true, '\t': true, '\r': true, '\n': true,
}

// skip passes by up to n bytes of a body.
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

// nextLine returns how many bytes of p belong to the current line, and the line
// with its CRLF once that has come.
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

// keep adds a piece to the unfinished line. A CR within is refused here and
// not left to the line's end, which may never come.
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

// readLine takes in a line, without its CRLF.
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

// expect goes on to the next state when the line is the one that must stand
// there.
func (f *framing) expect(line []byte, want string, next state, otherwise ambiguity) {
	f.state = next
	if string(line) != want {
		f.err = otherwise
	}
}

// endHead decides what follows a head.
func (f *framing) endHead() {
	h := &f.head
	switch {
	case h.absolute && !h.hosted:
		f.err = errHost
	case h.doomed:
		f.err = io.EOF // net/http answers; should it not, there is no more to read
	case h.coded:
		f.state = atChunkSize
	case h.length > 0:
		f.state, f.left = inBody, uint64(h.length)
	default:
		f.state = atRequestLine
	}
}
