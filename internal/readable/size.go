package readable

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Bytes is a number of bytes that is unmarshalled by [ParseSize].
type Bytes int64

// UnmarshalText implements encoding.TextUnmarshaler.
func (b *Bytes) UnmarshalText(text []byte) error {
	n, err := ParseSize(string(text))
	*b = Bytes(n)
	return err
}

// sizeUnits are in bytes.
var sizeUnits = map[string]int64{
	"": 1, "b": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30,
}

// ParseSize parses a number of bytes in the format of flags: 50000, 50kB, 1MiB.
// It is case-insensitive.
func ParseSize(s string) (int64, error) {
	unit := strings.TrimLeft(s, "0123456789")
	n, err := strconv.ParseInt(strings.TrimSuffix(s, unit), 10, 64)
	scale := sizeUnits[strings.ToLower(unit)]
	if err != nil || scale == 0 || n > math.MaxInt64/scale {
		return 0, fmt.Errorf("%q is no size: a number of bytes, or one of kB, MB, GB, KiB, MiB or GiB", s)
	}
	return n * scale, nil
}
