package spool

import (
	"encoding/binary"
	"hash/crc32"
	"time"
)

// A record is a sequence of lines in a segment:
//
//	0   magic
//	4   checksum of the rest of the header
//	8   checksum of the text
//	12  length of the text in bytes
//	16  number of lines
//	20  number of the first line
//	28  time of writing, in milliseconds since 1970
//	36  text
//
// Numbers are little-endian. Checksums are CRC-32C. They begin with the name of the source, so
// that no text in a log can contain a valid record.
type record struct {
	header
	text   []byte // valid until the next call of the scanner; nil if it is damaged
	offset int64  // in the segment
}

type header struct {
	check, textCheck uint32
	length, lines    uint32
	first            uint64
	at               int64
}

const headerLen = 36

// magic is not part of a text in UTF-8.
var magic = [4]byte{0xf7, 0xc5, 'W', 'R'}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// seedOf returns the checksum with which those of a source begin.
func seedOf(source string) uint32 { return crc32.Checksum([]byte(source), castagnoli) }

// appendRecord appends the record of a text to dst.
func appendRecord(dst []byte, seed uint32, first uint64, lines int, at time.Time, text []byte) []byte {
	begin := len(dst)
	dst = append(dst, magic[:]...)
	dst = append(dst, 0, 0, 0, 0)
	dst = binary.LittleEndian.AppendUint32(dst, crc32.Update(seed, castagnoli, text))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(text)))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(lines))
	dst = binary.LittleEndian.AppendUint64(dst, first)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(at.UnixMilli()))
	h := dst[begin:]
	binary.LittleEndian.PutUint32(h[4:], crc32.Update(seed, castagnoli, h[8:]))
	return append(dst, text...)
}

// parseHeader parses the header at the beginning of b, which has headerLen bytes or more.
func parseHeader(b []byte, seed uint32) (h header, ok bool) {
	if [4]byte(b) != magic {
		return h, false
	}
	h = header{
		check:     binary.LittleEndian.Uint32(b[4:]),
		textCheck: binary.LittleEndian.Uint32(b[8:]),
		length:    binary.LittleEndian.Uint32(b[12:]),
		lines:     binary.LittleEndian.Uint32(b[16:]),
		first:     binary.LittleEndian.Uint64(b[20:]),
		at:        int64(binary.LittleEndian.Uint64(b[28:])),
	}
	return h, h.check == crc32.Update(seed, castagnoli, b[8:headerLen])
}

// size returns the length of the record.
func (h *header) size() int64 { return headerLen + int64(h.length) }

// end returns the number of the line after the record.
func (h *header) end() uint64 { return h.first + uint64(h.lines) }
