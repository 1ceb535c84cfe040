package router

// The parameters that RFC 3492, section 5, gives to Punycode.
const (
	punyBase        = 36
	punyLeast       = 1  // tmin
	punyMost        = 26 // tmax
	punySkew        = 38
	punyDamp        = 700
	punyInitialBias = 72
	punyFirst       = 0x80 // the first code point that is encoded
)

// appendPunycode appends the Punycode of a label (RFC 3492, section 6.3). A
// label is so short that no number in here leaves 32 bits: its length times
// the highest code point is the most.
//
// What is no ASCII follows behind the ASCII characters as numbers: how often
// a decoder, which goes round and round the label with one code point after
// the other, has to move on before it inserts the next.
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

// leastFrom returns the lowest code point that is not below floor; there is one.
func leastFrom(label []rune, floor rune) rune {
	least := rune(-1)
	for _, c := range label {
		if c >= floor && (least < 0 || c < least) {
			least = c
		}
	}
	return least
}

// appendPunyNumber appends n in digits whose weights depend on the bias; the
// last one is below its threshold and so shows that it is the last.
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

// punyBias returns the bias behind a number, when so many characters of the
// label are written.
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
