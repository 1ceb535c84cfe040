package front

import (
	"bytes"

	"github.com/weirhq/weir/internal/httpsyntax"
)

const (
	errChunkSize ambiguity = "the size of a chunk is not a hexadecimal number"
	errChunkExt  ambiguity = "a chunk's extension is malformed"
	errChunkEnd  ambiguity = "a chunk is longer than its size"
	errTrailer   ambiguity = "a field is not allowed in a trailer"
	errBadField  ambiguity = "a trailer is malformed"
)

// readChunkSize parses the line before a chunk: its size and an optional extension,
// which is not forwarded. 15 digits are enough for a petabyte and do not overflow
// the integers of any parser.
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

// validExtension reports whether the extension of a chunk is short and cannot be
// read as the end of a line.
func validExtension(ext []byte) bool {
	const longest = 256
	return len(ext) > 0 && len(ext) <= longest && httpsyntax.IsToken(ext[:1]) && httpsyntax.IsPlain(ext)
}

// readTrailer parses a trailer field, or the empty line after the last one.
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

// onlyInHeads are fields that determine the end or the owner of a request. A parser
// that merges trailers into the head would use them.
var onlyInHeads = []string{
	"Content-Length", "Transfer-Encoding", "Host", "Trailer", "Connection", "Upgrade", "Te", "Expect",
}
