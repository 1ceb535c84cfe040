package front

import (
	"bytes"
	"strings"
)

const (
	errChunkSize ambiguity = "a chunk's size is no hexadecimal number"
	errChunkExt  ambiguity = "a chunk's extension is malformed"
	errChunkEnd  ambiguity = "a chunk is longer than its size"
	errTrailer   ambiguity = "a trailer decides what only a head may"
	errBadField  ambiguity = "a trailer is no field"
)

// readChunkSize takes in the line before a chunk: its size and perhaps an
// extension, which nobody passes on. A size of 15 digits is enough for a
// petabyte, and no reader's number is too small for it.
func (f *framing) readChunkSize(line []byte) {
	size, ext, extended := bytes.Cut(line, []byte(";"))
	if len(size) == 0 || len(size) > 15 {
		f.err = errChunkSize
		return
	}
	f.left = 0
	for _, c := range size {
		digit, ok := unhex(c)
		if !ok {
			f.err = errChunkSize
			return
		}
		f.left = f.left<<4 | uint64(digit)
	}
	if extended && !validExtension(ext) {
		f.err = errChunkExt
		return
	}
	if f.state = inChunk; f.left == 0 {
		f.state = atTrailer
	}
}

// validExtension tells whether what stands behind the semicolon of a chunk's
// size is short and cannot be taken for a line's end.
func validExtension(ext []byte) bool {
	const longest = 256
	return len(ext) > 0 && len(ext) <= longest && isToken(rune(ext[0])) && plain(ext)
}

// readTrailer takes in a field behind a body, or the empty line at its end.
func (f *framing) readTrailer(line []byte) {
	if len(line) == 0 {
		f.state = atRequestLine
		return
	}
	name, _, ok := bytes.Cut(line, []byte(":"))
	if !ok || len(name) == 0 || bytes.ContainsFunc(name, func(r rune) bool { return !isToken(r) }) || !plain(line) {
		f.err = errBadField
		return
	}
	for _, reserved := range onlyInHeads {
		if sameFold(name, reserved) {
			f.err = errTrailer
			return
		}
	}
}

// onlyInHeads are fields that say where a request ends or whose it is: a
// reader that merges trailers into the head would take them for that.
var onlyInHeads = []string{
	"Content-Length", "Transfer-Encoding", "Host", "Trailer", "Connection", "Upgrade", "Te", "Expect",
}

// plain tells whether b has no control byte but tabs.
func plain(b []byte) bool {
	for _, c := range b {
		if c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

// isToken tells whether c may stand in a name, RFC 9110 section 5.6.2.
func isToken(c rune) bool {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		return true
	}
	return strings.ContainsRune("!#$%&'*+-.^_`|~", c)
}
