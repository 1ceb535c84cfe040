package httpsyntax

import "testing"

// findControlPlain is the plain equivalent of FindControl.
func findControlPlain(b string, from int) int {
	for i := from; i < len(b); i++ {
		if IsControl(b[i]) {
			return i
		}
	}
	return len(b)
}

func findInvisiblePlain(b string) int {
	for i := range len(b) {
		if b[i] <= ' ' || b[i] == 0x7f {
			return i
		}
	}
	return len(b)
}

// FuzzScan compares the word-wise scans with their plain equivalents, from each index.
func FuzzScan(f *testing.F) {
	for _, seed := range []string{"", "a", "abcdefgh", "abcdefg\r\n", "\t\t\t\t\t\t\t\t\t\x00", "  !\"\x7f~\x80\xff\x1f",
		"a line of more than thirty-two bytes\tand one control byte\x01", "\tabc\x7f\xff\xfe\x01\x20\x21", "\t\x20\x20\x20\x20\x20\x20\x20\t\x21\x20\x20\x1f"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, b string) {
		for from := range len(b) + 1 {
			if got, want := FindControl(b, from), findControlPlain(b, from); got != want {
				t.Fatalf("FindControl(%q, %d) = %d, want %d", b, from, got, want)
			}
			if got, want := FindInvisible(b[from:]), findInvisiblePlain(b[from:]); got != want {
				t.Fatalf("FindInvisible(%q) = %d, want %d", b[from:], got, want)
			}
		}
	})
}

// TestScansAgreeOnAllPairs compares them for all pairs of neighbouring bytes in a word.
func TestScansAgreeOnAllPairs(t *testing.T) {
	text := []byte("abcdefghi")
	for one := range 256 {
		for two := range 256 {
			text[3], text[4] = byte(one), byte(two)
			b := string(text)
			if got, want := FindControl(b, 0), findControlPlain(b, 0); got != want {
				t.Fatalf("FindControl(%q) = %d, want %d", b, got, want)
			}
			if got, want := FindInvisible(b), findInvisiblePlain(b); got != want {
				t.Fatalf("FindInvisible(%q) = %d, want %d", b, got, want)
			}
		}
	}
}

func BenchmarkFindControl(b *testing.B) {
	line := "User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:130.0)\r\n"
	b.Run("words", func(b *testing.B) {
		for b.Loop() {
			FindControl(line, 0)
		}
	})
	b.Run("plain", func(b *testing.B) {
		for b.Loop() {
			findControlPlain(line, 0)
		}
	})
}
