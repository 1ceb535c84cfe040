package answer

import "bytes"

// chunks reads one part of a chunked body: a chunk's line, its data, a byte of the line
// break after it, or a line of the trailers.
func (p *Parser) chunks(b []byte) (n int, done bool, err error) {
	switch p.stage {
	case chunkData:
		n = p.skip(b)
		if p.left == 0 {
			p.stage = chunkCR
		}
		return n, false, nil
	case chunkCR, chunkLF:
		return 1, false, p.endChunk(b[:1])
	case chunkSize:
		return p.chunkLine(b)
	}
	return p.trailerLine(b)
}

// endChunk reads a byte of the line break after a chunk's data.
func (p *Parser) endChunk(b []byte) error {
	switch {
	case b[0] == '\n':
		p.stage, p.size = chunkSize, 0
	case b[0] == '\r' && p.stage == chunkCR:
		p.stage = chunkLF
	default:
		return p.bad("a chunk is longer than its size", b)
	}
	return nil
}

// chunkLine reads a line such as "1a;name=value". Extensions are ignored.
func (p *Parser) chunkLine(b []byte) (n int, done bool, err error) {
	line, n, whole := p.line(b)
	if p.size > maxChunkLine {
		return n, false, p.bad("the line of a chunk's size is longer than 4 KiB", line)
	}
	if !whole {
		return n, false, nil
	}
	digits, _, _ := bytes.Cut(line, []byte{';'})
	size, ok := hexadecimal(trim(digits))
	switch {
	case !ok:
		return n, false, p.bad("a chunk's size is not a hexadecimal number up to 2^62", line)
	case size == 0:
		p.stage, p.size = trailer, 0
	default:
		p.stage, p.left = chunkData, size
	}
	return n, false, nil
}

func (p *Parser) trailerLine(b []byte) (n int, done bool, err error) {
	line, n, whole := p.line(b)
	if p.size > maxHead {
		return n, false, p.bad("the trailers are longer than 64 KiB", line)
	}
	return n, whole && len(line) == 0, nil
}

// hexadecimal reads a number up to maxLength.
func hexadecimal(b []byte) (n int64, ok bool) {
	for _, c := range b {
		var digit int64
		switch {
		case isDigit(c):
			digit = int64(c - '0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			digit = int64(c|0x20-'a') + 10
		default:
			return 0, false
		}
		if n > (maxLength-digit)/16 {
			return 0, false
		}
		n = 16*n + digit
	}
	return n, len(b) > 0
}
