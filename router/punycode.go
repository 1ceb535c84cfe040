package router

// The parameters of Punycode (RFC 3492, section 5).
const (
	punyBase        = 36
	punyLeast       = 1  // tmin
	punyMost        = 26 // tmax
	punySkew        = 38
	punyDamp        = 700
	punyInitialBias = 72
	punyFirst       = 0x80 // the first code point that is encoded
)

// appendPunycode appends the Punycode of a label (RFC 3492, section 6.3). A label is so
// short that no number overflows 32 bits: the largest is its length times the highest
// code point.
//
// Characters that are not ASCII are encoded after the ASCII characters as numbers: the
// number of steps of a decoder, which tries every position of the label with one code
// point after the other, before it inserts the next character.
func appendPunycode(dst []byte, label []rune) []byte {
	start := len(dst)
	for _, c := range label {
		if c < punyFirst {
			dst = append(dst, byte(c))
		}
	}
	basic := len(dst) - start
	if basic > 0 {
		dst = append(dst, '-')
	}
	next, moves, bias := rune(punyFirst), 0, punyInitialBias
	for written := basic; written < len(label); next++ {
		least := leastFrom(label, next)
		moves += int(least-next) * (written + 1)
		for _, c := range label {
			switch {
			case c < least:
				moves++
			case c == least:
				dst = appendPunyNumber(dst, moves, bias)
				written++
				bias = punyBias(moves, written, written == basic+1)
				moves = 0
			}
		}
		next = least
		moves++
	}
	return dst
}

// leastFrom returns the lowest code point of the label that is at least floor. One must
// exist.
func leastFrom(label []rune, floor rune) rune {
	least := rune(-1)
	for _, c := range label {
		if c >= floor && (least < 0 || c < least) {
			least = c
		}
	}
	return least
}

// appendPunyNumber appends n in digits whose weights depend on the bias. The last digit
// is below its threshold.
func appendPunyNumber(dst []byte, n, bias int) []byte {
	for k := punyBase; ; k += punyBase {
		threshold := min(max(k-bias, punyLeast), punyMost)
		if n < threshold {
			return append(dst, punyDigit(n))
		}
		n -= threshold
		dst = append(dst, punyDigit(threshold+n%(punyBase-threshold)))
		n /= punyBase - threshold
	}
}

func punyDigit(n int) byte { return "abcdefghijklmnopqrstuvwxyz0123456789"[n] }

// punyBias returns the bias after a number, when the given count of characters is
// written.
func punyBias(n, written int, first bool) int {
	if first {
		n /= punyDamp
	} else {
		n /= 2
	}
	n += n / written
	bias := 0
	for ; n > (punyBase-punyLeast)*punyMost/2; bias += punyBase {
		n /= punyBase - punyLeast
	}
	return bias + (punyBase-punyLeast+1)*n/(n+punySkew)
}
