package spool

import (
	"bytes"
	"errors"
	"hash/crc32"
	"io"
)

// A scanner finds the records of a segment. It skips bytes that are not a record.
type scanner struct {
	file io.ReaderAt
	seed uint32
	pos  int64 // of the next record

	buf  []byte // bytes of the file
	base int64  // offset of buf in the file
}

// windowBytes is the number of bytes that are read at once, or more for a long record.
const windowBytes = 256 << 10

// reset continues with another file, at its beginning.
func (s *scanner) reset(file io.ReaderAt, seed uint32) {
	*s = scanner{file: file, seed: seed, buf: s.buf[:0]}
}

// next returns the next record that ends before the offset limit, and reports whether there
// is one. The caller advances pos over the record.
func (s *scanner) next(limit int64) (r record, ok bool, err error) {
	for limit-s.pos >= headerLen {
		b, err := s.window(headerLen, limit)
		if err != nil {
			return r, false, err
		}
		h, valid := parseHeader(b, s.seed)
		if valid && h.size() <= limit-s.pos {
			b, err := s.window(int(h.size()), limit)
			if err != nil {
				return r, false, err
			}
			r = record{header: h, offset: s.pos}
			if text := b[headerLen:h.size()]; crc32.Update(s.seed, castagnoli, text) == h.textCheck {
				r.text = text
			}
			return r, true, nil
		}
		s.skip(b)
	}
	s.pos = limit
	return r, false, nil
}

// skip advances to the next place in the window b, but the first, where a record may begin.
func (s *scanner) skip(b []byte) {
	if i := bytes.Index(b[1:], magic[:]); i >= 0 {
		s.pos += int64(1 + i)
		return
	}
	s.pos += int64(max(1, len(b)-(len(magic)-1)))
}

// window returns the bytes from pos on, at least n of them. There are that many before limit, or the error is
// io.ErrUnexpectedEOF. After another error, the next call reads again.
func (s *scanner) window(n int, limit int64) ([]byte, error) {
	if s.pos >= s.base && s.pos+int64(n) <= s.base+int64(len(s.buf)) {
		return s.buf[s.pos-s.base:], nil
	}
	size := int(min(int64(max(n, windowBytes)), limit-s.pos))
	if cap(s.buf) < size || cap(s.buf) > max(size, windowBytes) {
		s.buf = make([]byte, max(size, windowBytes))
	}
	got, err := s.file.ReadAt(s.buf[:size], s.pos)
	s.buf, s.base = s.buf[:got], s.pos
	switch {
	case got >= n:
		return s.buf, nil
	case errors.Is(err, io.EOF):
		return nil, io.ErrUnexpectedEOF
	}
	return nil, err
}
