// Package gen makes data to load a server with: tables as CSV, and bodies of
// printable bytes.
//
// What is made is a function of its options alone: the same seed yields the same
// bytes on every machine. It is written while it is made, so that no size is too
// large for memory.
package gen

import (
	"fmt"
	"io"
	"math/bits"
)

// Printable is the alphabet of Bytes unless another is given: ASCII without
// space, quotes and backslash, so that it needs no escape in most notations.
const Printable = "!#$%&()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_`abcdefghijklmnopqrstuvwxyz{|}~"

// Bytes writes n random bytes of the alphabet, "" being Printable.
func Bytes(w io.Writer, n int64, seed uint64, alphabet string) error {
	if n < 0 {
		return fmt.Errorf("gen: %d bytes cannot be written", n)
	}
	if alphabet == "" {
		alphabet = Printable
	}
	if len(alphabet) > 256 {
		return fmt.Errorf("gen: the alphabet has %d bytes; it may have 256", len(alphabet))
	}
	r := random(mix64(seed))
	buffer := make([]byte, 32<<10)
	for n > 0 {
		chunk := buffer[:min(int64(len(buffer)), n)]
		r.fill(chunk, alphabet)
		if _, err := w.Write(chunk); err != nil {
			return fmt.Errorf("gen: %w", err)
		}
		n -= int64(len(chunk))
	}
	return nil
}

// random is Steele, Lea and Flood's SplitMix64 (OOPSLA 2014).
type random uint64

func (r *random) next() uint64 {
	*r += 0x9e3779b97f4a7c15
	return mix64(uint64(*r))
}

func mix64(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below returns a number from 0 to n-1, even to n in 2^64 (Lemire, "Fast Random
// Integer Generation in an Interval", 2019, without the rejection).
func (r *random) below(n int) int {
	high, _ := bits.Mul64(r.next(), uint64(n))
	return int(high)
}

// fill fills b with letters of the alphabet, four from each random number: the
// high half of 16 bits times how many there are, even to that number in 2^16.
func (r *random) fill(b []byte, alphabet string) {
	n := uint64(len(alphabet))
	for len(b) >= 4 {
		x := r.next()
		b[0] = alphabet[x&0xffff*n>>16]
		b[1] = alphabet[x>>16&0xffff*n>>16]
		b[2] = alphabet[x>>32&0xffff*n>>16]
		b[3] = alphabet[x>>48*n>>16]
		b = b[4:]
	}
	for i := range b {
		b[i] = alphabet[r.next()>>48*n>>16]
	}
}
