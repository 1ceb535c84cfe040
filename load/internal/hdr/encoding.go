package hdr

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// The cookies of HdrHistogram's encoding, version 2. Their bits in mode say how counts are encoded.
const (
	plainCookie      uint32 = 0x1c849303 | 0x10
	compressedCookie uint32 = 0x1c849304 | 0x10
	mode             uint32 = 0xf0
)

// header precedes the counts, before compression.
type header struct {
	Cookie                 uint32
	Length, Offset, Digits int32 // Length is of the counts, in bytes; Offset is not used
	Lowest, Longest        int64
	Ratio                  float64 // of an integer to the value that it stands for
}

// Encode returns the histogram in the format of HdrHistogram: V2, compressed, base64.
//
// The counts of the buckets up to the last one with values follow each other. Each is a signed
// integer in zigzag LEB128, as in [binary.AppendVarint]; a negative number -n is n empty buckets.
// HdrHistogram never uses more than nine bytes, which makes a difference from counts of 1<<62.
func (h *Histogram) Encode() string {
	var counts []byte
	zeros := int64(0)
	for _, n := range h.counts[:index(h.Max())+1] {
		if n == 0 {
			zeros++
			continue
		}
		counts = appendZeros(counts, zeros)
		counts, zeros = binary.AppendVarint(counts, n), 0
	}
	plain, _ := binary.Append(nil, binary.BigEndian, header{Cookie: plainCookie, Length: int32(len(counts)), Digits: 3,
		Lowest: 1, Longest: Longest, Ratio: 1})
	var packed bytes.Buffer
	packed.Write(make([]byte, 8))
	w, _ := zlib.NewWriterLevel(&packed, zlib.BestCompression)
	w.Write(append(plain, counts...))
	w.Close()
	b := packed.Bytes()
	binary.BigEndian.PutUint32(b, compressedCookie)
	binary.BigEndian.PutUint32(b[4:], uint32(len(b)-8))
	return base64.StdEncoding.EncodeToString(b)
}

// appendZeros encodes n empty buckets.
func appendZeros(counts []byte, n int64) []byte {
	switch n {
	case 0:
		return counts
	case 1:
		return binary.AppendVarint(counts, 0)
	}
	return binary.AppendVarint(counts, -n)
}

// Decode returns the histogram that Encode or another HdrHistogram has encoded. Its values have
// three digits and a lowest value of 1; the highest may differ.
func Decode(text string) (*Histogram, error) {
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, err
	}
	if len(b) < 8 || binary.BigEndian.Uint32(b)|mode != compressedCookie|mode {
		return nil, errors.New("it is not a compressed histogram of version 2")
	}
	z, err := zlib.NewReader(bytes.NewReader(b[8:]))
	if err != nil {
		return nil, err
	}
	var head header
	if err := binary.Read(z, binary.BigEndian, &head); err != nil {
		return nil, fmt.Errorf("reading the head: %w", err)
	}
	switch {
	case head.Cookie|mode != plainCookie|mode:
		return nil, errors.New("it is not a histogram of version 2")
	case head.Digits != 3 || head.Lowest > 1:
		return nil, fmt.Errorf("its values have %d digits from %d, want 3 from 1", head.Digits, head.Lowest)
	case head.Length < 0 || head.Length > length*binary.MaxVarintLen64:
		return nil, fmt.Errorf("it has %d bytes of counts, want at most %d", head.Length, length*binary.MaxVarintLen64)
	}
	counts, err := io.ReadAll(io.LimitReader(z, int64(head.Length)+1)) // to its end, which has a checksum
	if err != nil {
		return nil, fmt.Errorf("reading the counts: %w", err)
	}
	if len(counts) != int(head.Length) {
		return nil, fmt.Errorf("it does not have the %d bytes of counts that its head announces", head.Length)
	}
	return decodeCounts(counts)
}

func decodeCounts(counts []byte) (*Histogram, error) {
	h := New()
	for i := int64(0); len(counts) > 0; {
		n, size := binary.Varint(counts)
		switch {
		case size <= 0:
			return nil, fmt.Errorf("the count of bucket %d is cut off or too large", i)
		case n < i-length, n >= 0 && i == length:
			return nil, fmt.Errorf("it has more than %d buckets", length)
		case n > math.MaxInt64-h.total:
			return nil, errors.New("the sum of the counts is too large")
		}
		counts = counts[size:]
		if n < 0 {
			i -= n
			continue
		}
		h.counts[i] = n
		h.total += n
		i++
	}
	return h, nil
}
