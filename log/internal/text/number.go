package text

import (
	"math"
	"strconv"
)

// AppendFloat appends f as encoding/json does, which is as ECMAScript does;
// bits is 32 or 64. What JSON has no number for becomes a string.
func AppendFloat(b []byte, f float64, bits int) []byte {
	switch {
	case math.IsNaN(f):
		return append(b, `"NaN"`...)
	case math.IsInf(f, 1):
		return append(b, `"+Inf"`...)
	case math.IsInf(f, -1):
		return append(b, `"-Inf"`...)
	}
	if !needsExponent(math.Abs(f), bits) {
		return strconv.AppendFloat(b, f, 'f', -1, bits)
	}
	b = strconv.AppendFloat(b, f, 'e', -1, bits)
	// strconv pads the exponent to two digits, ECMAScript does not: e-09 is e-9.
	if n := len(b); n >= 4 && b[n-4] == 'e' && b[n-3] == '-' && b[n-2] == '0' {
		b[n-2] = b[n-1]
		b = b[:n-1]
	}
	return b
}

// needsExponent compares in the float's own width, where the cut-offs differ.
func needsExponent(abs float64, bits int) bool {
	if abs == 0 {
		return false
	}
	if bits == 32 {
		return float32(abs) < 1e-6 || float32(abs) >= 1e21
	}
	return abs < 1e-6 || abs >= 1e21
}
