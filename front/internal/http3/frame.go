package http3

import (
	"bufio"
	"errors"
	"io"
	"math"
)

// The types of frames (RFC 9114, section 7.2).
const (
	dataFrame     = 0x0
	headersFrame  = 0x1
	settingsFrame = 0x4
	goAwayFrame   = 0x7
)

// ofHTTP2 are the types of frames that only HTTP/2 has (RFC 9114, section 7.2.8).
var ofHTTP2 = map[uint64]bool{0x2: true, 0x6: true, 0x8: true, 0x9: true}

// elsewhere are the types of frames that have no place in a request: those of a control stream (also RFC 9218), and
// pushes.
var elsewhere = map[uint64]bool{
	0x3: true, settingsFrame: true, 0x5: true, goAwayFrame: true, 0xd: true, 0xf0700: true, 0xf0701: true,
}

// readFrame reads the type and the length of a frame. At the end of the stream, it returns io.EOF.
func readFrame(r *bufio.Reader) (kind, length uint64, err error) {
	if kind, err = readInt(r); err != nil {
		return 0, 0, err
	}
	if length, err = readInt(r); err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return kind, length, err
}

// readInt reads an integer of variable length (RFC 9000, section 16).
func readInt(r *bufio.Reader) (uint64, error) {
	first, err := r.ReadByte()
	if err != nil {
		return 0, err
	}
	n := uint64(first & 0x3f)
	for range 1<<(first>>6) - 1 {
		b, err := r.ReadByte()
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return 0, err
		}
		n = n<<8 | uint64(b)
	}
	return n, nil
}

// skip discards n bytes.
func skip(r *bufio.Reader, n uint64) error {
	if n > math.MaxInt64 {
		return errors.New("a frame is too long")
	}
	_, err := io.CopyN(io.Discard, r, int64(n))
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return err
}
