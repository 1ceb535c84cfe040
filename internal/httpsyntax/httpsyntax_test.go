package httpsyntax_test

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/http/httpguts"

	"github.com/weirhq/weir/internal/httpsyntax"
)

// TestBytesAreClassifiedAsInHttpguts compares the result for every byte, by itself and between letters,
// with the standard library.
func TestBytesAreClassifiedAsInHttpguts(t *testing.T) {
	for i := range 256 {
		c := byte(i)
		s := "a" + string([]byte{c}) + "z"
		if got, want := httpsyntax.IsToken(s), httpguts.ValidHeaderFieldName(s); got != want {
			t.Errorf("IsToken(%q) = %v, want %v", s, got, want)
		}
		if got, want := httpsyntax.IsPlain(s), httpguts.ValidHeaderFieldValue(s); got != want {
			t.Errorf("IsPlain(%q) = %v, want %v", s, got, want)
		}
		if got, want := httpsyntax.Lower(c), bytes.ToLower([]byte{c})[0]; c < 0x80 && got != want ||
			c >= 0x80 && got != c {
			t.Errorf("Lower(%q) = %q, want %q", c, got, want)
		}
		n, err := strconv.ParseUint(string([]byte{c}), 16, 8)
		if got, ok := httpsyntax.Hex(c); ok != (err == nil) || ok && uint64(got) != n {
			t.Errorf("Hex(%q) = %d, %v; want %d, %v", c, got, ok, n, err)
		}
	}
	if httpsyntax.IsToken("") || !httpsyntax.IsPlain("") {
		t.Error("an empty name is none, an empty value is one")
	}
}

func TestEqualFoldIgnoresOnlyASCIICase(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"", "", true}, {"Host", "hOST", true}, {"Host", "Hosts", false}, {"Te", "T-", false},
		{"k", "\u212a", false}, {"[", "{", false}, {"@", "`", false}, {"\xc4", "\xe4", false},
	} {
		if got := httpsyntax.EqualFold(c.a, []byte(c.b)); got != c.want {
			t.Errorf("EqualFold(%q, %q) = %v, want %v", c.a, c.b, got, c.want)
		}
	}
}

func TestTrimSpaceTrimsBlanksAndTabs(t *testing.T) {
	for _, s := range []string{"", " ", "\t \t", "a", " a b\t", "\r a \n", "\u00a0a\u00a0"} {
		if got, want := string(httpsyntax.TrimSpace([]byte(s))), strings.Trim(s, " \t"); got != want {
			t.Errorf("TrimSpace(%q) = %q, want %q", s, got, want)
		}
	}
}

// TestIsPlainExaminesEveryByte checks the word-wise search with every byte at every position,
// after bytes that carry into the next one.
func TestIsPlainExaminesEveryByte(t *testing.T) {
	for _, fill := range []string{"a", "\t", "\xff", "\x80", " ", "~"} {
		for length := range 20 {
			for at := range length {
				for c := range 256 {
					s := strings.Repeat(fill, at) + string([]byte{byte(c)}) + strings.Repeat(fill, length-at-1)
					if got, want := httpsyntax.IsPlain(s), httpguts.ValidHeaderFieldValue(s); got != want {
						t.Fatalf("IsPlain(%q) = %v, want %v", s, got, want)
					}
				}
			}
		}
	}
}

func BenchmarkIsPlain(b *testing.B) {
	for _, length := range []int{8, 40, 600} {
		b.Run(strconv.Itoa(length), func(b *testing.B) {
			s := strings.Repeat("x", length)
			for b.Loop() {
				if !httpsyntax.IsPlain(s) {
					b.Fatal("it is plain")
				}
			}
		})
	}
}
