// Package gen generates data for load tests: tables as CSV, and bodies of printable
// bytes.
//
// The data depends only on the options: the same seed yields the same bytes on every
// machine. It is written while it is generated, so that its size is not limited by
// memory.
package gen

import (
	"fmt"
	"io"

	"github.com/weirhq/weir/load/internal/random"
)

// Printable is the default alphabet of Bytes: ASCII without space, quotes and backslash,
// so that most notations need no escapes.
const Printable = "!#$%&()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_`abcdefghijklmnopqrstuvwxyz{|}~"

// Bytes writes n random bytes of the alphabet; "" is Printable.
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
	r := random.Source(random.Mix(seed))
	buffer := make([]byte, 32<<10)
	for n > 0 {
		chunk := buffer[:min(int64(len(buffer)), n)]
		fill(chunk, &r, alphabet)
		if _, err := w.Write(chunk); err != nil {
			return fmt.Errorf("gen: %w", err)
		}
		n -= int64(len(chunk))
	}
	return nil
}

// fill fills b with letters of the alphabet. Each random number yields four: the high
// half of 16 bits times the number of letters n. The probabilities differ by n/2^16 at
// most.
func fill(b []byte, r *random.Source, alphabet string) {
	n := uint64(len(alphabet))
	for len(b) >= 4 {
		x := r.Next()
		b[0] = alphabet[x&0xffff*n>>16]
		b[1] = alphabet[x>>16&0xffff*n>>16]
		b[2] = alphabet[x>>32&0xffff*n>>16]
		b[3] = alphabet[x>>48*n>>16]
		b = b[4:]
	}
	for i := range b {
		b[i] = alphabet[r.Next()>>48*n>>16]
	}
}
