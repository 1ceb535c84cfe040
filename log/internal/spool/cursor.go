package spool

import (
	"encoding/binary"
	"hash/crc32"
	"io"
	"os"
)

// A cursor is the state of a source that is written now and then.
type cursor struct {
	next uint64 // the number of the next line to deliver
	end  uint64 // the number after the last line
}

const cursorLen = 20

// write writes the cursor in place, so that it works with a full disk.
func (c cursor) write(w io.WriterAt, seed uint32) error {
	var b [cursorLen]byte
	binary.LittleEndian.PutUint64(b[:], c.next)
	binary.LittleEndian.PutUint64(b[8:], c.end)
	binary.LittleEndian.PutUint32(b[16:], crc32.Update(seed, castagnoli, b[:16]))
	_, err := w.WriteAt(b[:], 0)
	return err
}

// readCursor reads a cursor, and reports whether it is valid.
func readCursor(path string, seed uint32) (c cursor, ok bool) {
	b, err := os.ReadFile(path)
	if err != nil || len(b) != cursorLen {
		return c, false
	}
	c = cursor{binary.LittleEndian.Uint64(b[:]), binary.LittleEndian.Uint64(b[8:])}
	return c, binary.LittleEndian.Uint32(b[16:]) == crc32.Update(seed, castagnoli, b[:16]) && c.next <= c.end
}
