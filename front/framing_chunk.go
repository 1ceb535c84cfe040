package front

import (
	"bytes"

	"github.com/weirhq/weir/internal/httpsyntax"
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
		digit, ok := httpsyntax.Hex(c)
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
	return len(ext) > 0 && len(ext) <= longest && httpsyntax.IsToken(ext[:1]) && httpsyntax.IsPlain(ext)
}

// readTrailer takes in a field behind a body, or the empty line at its end.
func (f *framing) readTrailer(line []byte) {
	if len(line) == 0 {
		f.state = atRequestLine
		return
	}
	name, _, ok := bytes.Cut(line, []byte(":"))
	if !ok || !httpsyntax.IsToken(name) || !httpsyntax.IsPlain(line) {
		f.err = errBadField
		return
	}
	for _, reserved := range onlyInHeads {
		if httpsyntax.EqualFold(name, reserved) {
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
