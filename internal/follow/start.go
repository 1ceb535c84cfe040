package follow

import (
	"bufio"
	"bytes"
	"io"
)

// A Start is the position where reading starts: after the first Lines lines or,
// with FromEnd, before the last Lines lines. The zero value is the beginning.
type Start struct {
	Lines   int
	FromEnd bool
}

const blockSize = 64 << 10

// Offset returns the position in r, which has size bytes. If there are fewer
// lines, it is the end of r, or with FromEnd its beginning. A last line without
// a newline counts as a line.
func (s Start) Offset(r io.ReaderAt, size int64) (int64, error) {
	if s.FromEnd {
		return lastLines(r, size, s.Lines)
	}
	return afterLines(r, size, s.Lines)
}

// afterLines returns the offset after the first lines.
func afterLines(r io.ReaderAt, size int64, lines int) (offset int64, err error) {
	in := bufio.NewReaderSize(io.NewSectionReader(r, 0, size), blockSize)
	for lines > 0 {
		part, err := in.ReadSlice('\n')
		offset += int64(len(part))
		switch err {
		case nil:
			lines--
		case bufio.ErrBufferFull: // the line continues
		case io.EOF:
			return offset, nil
		default:
			return offset, err
		}
	}
	return offset, nil
}

// lastLines returns the offset of the last lines.
func lastLines(r io.ReaderAt, size int64, lines int) (offset int64, err error) {
	if lines <= 0 {
		return size, nil
	}
	block := make([]byte, blockSize)
	for end := size; end > 0; {
		from := max(0, end-int64(len(block)))
		part := block[:end-from]
		if _, err := r.ReadAt(part, from); err != nil && err != io.EOF {
			return 0, err
		}
		if end == size {
			part = bytes.TrimSuffix(part, []byte("\n"))
		}
		for i := bytes.LastIndexByte(part, '\n'); i >= 0; i = bytes.LastIndexByte(part, '\n') {
			if lines--; lines == 0 {
				return from + int64(i) + 1, nil
			}
			part = part[:i]
		}
		end = from
	}
	return 0, nil
}
