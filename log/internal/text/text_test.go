package text

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
)

// TestNumbersAreAppendedAsByStrconv compares with strconv around every power of ten and of two.
func TestNumbersAreAppendedAsByStrconv(t *testing.T) {
	var numbers []uint64
	for n := uint64(1); n != 0; n *= 2 {
		numbers = append(numbers, n-1, n, n+1)
	}
	for _, n := range powersOf10 {
		numbers = append(numbers, n-1, n, n+1)
	}
	for _, n := range numbers {
		if got, want := string(AppendUint(nil, n)), strconv.FormatUint(n, 10); got != want {
			t.Errorf("AppendUint: got %s, want %s", got, want)
		}
		for _, n := range []int64{int64(n), -int64(n), math.MinInt64} {
			if got, want := string(AppendInt([]byte("x"), n)), "x"+strconv.FormatInt(n, 10); got != want {
				t.Errorf("AppendInt: got %s, want %s", got, want)
			}
		}
	}
}

// TestEightDigitsFormatsEveryValue tries every value of each lane, and of each pair of lanes.
func TestEightDigitsFormatsEveryValue(t *testing.T) {
	for n := range uint32(10000) {
		for _, n := range []uint32{n, n * 10000, n*10000 + n, n*10000 + 9999 - n} {
			var got [8]byte
			binary.LittleEndian.PutUint64(got[:], eightDigits(n))
			if want := fmt.Sprintf("%08d", n); string(got[:]) != want {
				t.Fatalf("eightDigits(%d) = %s, want %s", n, got, want)
			}
		}
	}
}

func FuzzNumbers(f *testing.F) {
	f.Add(uint64(0))
	f.Add(uint64(math.MaxUint64))
	f.Fuzz(func(t *testing.T, n uint64) {
		if got, want := string(AppendUint(nil, n)), strconv.FormatUint(n, 10); got != want {
			t.Errorf("AppendUint: got %s, want %s", got, want)
		}
	})
}

// checkWords compares copyAll, which may copy overlapping words on this
// processor, with the loop over bytes.
func checkWords(t *testing.T, s string) {
	t.Helper()
	checkWordsWith(t, s, jsonQuotes)
	checkWordsWith(t, s, noQuotes)
}

func checkWordsWith(t *testing.T, s string, quotes eightQuotes) {
	t.Helper()
	const before, after = "<", ">"
	dst := []byte(before + strings.Repeat("-", len(s)) + after)
	middle := dst[1 : 1+len(s)]
	plain := copyPlain(make([]byte, len(s)), s, quotes)
	want := 0
	for want < len(s) && !isSpecial(s[want], quotes) {
		want++
	}
	if plain != want {
		t.Errorf("copyPlain(%q) = %d, want %d", s, plain, want)
	}
	if got := copyAll(middle, s, quotes); got != (plain == len(s)) {
		t.Errorf("copyAll(%q) = %v, but %d bytes of %d are plain", s, got, plain, len(s))
	} else if got && string(middle) != s {
		t.Errorf("copyAll(%q) copied %q", s, middle)
	}
	if !strings.HasPrefix(string(dst), before) || !strings.HasSuffix(string(dst), after) {
		t.Errorf("copyAll(%q) wrote beyond len(s)", s)
	}
}

// TestWordsFindEachSpecialByte tries every byte at every offset of strings of every relevant
// length.
func TestWordsFindEachSpecialByte(t *testing.T) {
	for length := range 40 {
		text := []byte(strings.Repeat("a", length))
		checkWords(t, string(text))
		for at := range text {
			for c := range 256 {
				text[at] = byte(c)
				checkWords(t, string(text))
			}
			text[at] = 'a'
		}
	}
}

func FuzzWords(f *testing.F) {
	f.Add("a plain text")
	f.Add("\x7f\x80\xff\x00\"\\ \u2028\u0085")
	f.Fuzz(checkWords)
}

// TestPutIntMemberEqualsItsParts compares PutIntMember with its parts, with and without spare
// capacity.
func TestPutIntMemberEqualsItsParts(t *testing.T) {
	for _, key := range []string{"", "a", "a longer key", "a\"b"} {
		for _, n := range []int64{0, 9, 10, -1, 123456789, math.MinInt64, math.MaxInt64} {
			for _, spare := range []int{0, 5, 100} {
				got := append(make([]byte, 0, spare+1), '{')
				want := string(AppendInt(AppendMember(got[:1:1], ',', key), n))
				if PutIntMember(&got, ',', key, n); string(got) != want {
					t.Errorf("PutIntMember(%q, %d) = %s, want %s", key, n, got, want)
				}
			}
		}
	}
}

// TestPuttingEqualsAppending compares the functions for a buffer in place with those that
// append, with and without spare capacity.
func TestPuttingEqualsAppending(t *testing.T) {
	texts := []string{"", "a", "a key", "a somewhat longer key", "\"", "a\"b", "ünïcödé", "\xff",
		strings.Repeat("x", 100)}
	for _, key := range texts {
		for _, value := range texts {
			for _, spare := range []int{0, 10, 1000} {
				start := append(make([]byte, 0, spare+1), '{')
				want := string(AppendString(AppendMember(start[:1:1], ',', key), value))
				got := start
				PutTextMember(&got, ',', key, value)
				if string(got) != want {
					t.Errorf("PutTextMember(%q, %q) = %s, want %s", key, value, got, want)
				}
				got = start[:1]
				PutMember(&got, ',', key)
				if PutString(&got, value); string(got) != want {
					t.Errorf("PutMember(%q), PutString(%q) = %s, want %s", key, value, got, want)
				}
			}
		}
	}
}

// TestLabeledFunctionsEqualTheirParts compares the functions with labels with their parts, for labels
// of every relevant length, with and without spare capacity.
func TestLabeledFunctionsEqualTheirParts(t *testing.T) {
	for length := range 20 {
		label := strings.Repeat("l", length)
		for _, value := range []string{"", "a", "plain", "somewhat longer", "a\"b", "tab\there", "ünïcödé",
			"\xff\u0085", strings.Repeat("x", 100)} {
			for _, spare := range []int{0, 10, 1000} {
				start := append(make([]byte, 0, spare+1), '{')
				before := "{" + label
				got := start
				PutLabeled(&got, label, value)
				if want := string(AppendContent([]byte(before), value)) + `"`; string(got) != want {
					t.Errorf("PutLabeled(%q, %q) = %s, want %s", label, value, got, want)
				}
				got = start[:1]
				PutPair(&got, label, value)
				if want := string(AppendLTSV([]byte(before), value)); string(got) != want {
					t.Errorf("PutPair(%q, %q) = %s, want %s", label, value, got, want)
				}
				got = start[:1]
				PutLabeledInt(&got, label, -int64(len(value)))
				if want := before + strconv.Itoa(-len(value)); string(got) != want {
					t.Errorf("PutLabeledInt(%q, %d) = %s, want %s", label, -len(value), got, want)
				}
			}
		}
	}
}
