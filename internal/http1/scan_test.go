package http1

import "testing"

// findControlPlain is the plain equivalent of findControl.
func findControlPlain(b []byte, from int) int {
	for i := from; i < len(b); i++ {
		if isControl(b[i]) {
			return i
		}
	}
	return len(b)
}

func findInvisiblePlain(b []byte) int {
	for i, c := range b {
		if isInvisible(c) {
			return i
		}
	}
	return len(b)
}

// FuzzScan compares the word-wise scans with their plain equivalents, from each index.
func FuzzScan(f *testing.F) {
	for _, seed := range []string{"", "a", "abcdefgh", "abcdefg\r\n", "\t\t\t\t\t\t\t\t\t\x00", "  !\"\x7f~\x80\xff\x1f",
		"\tabc\x7f\xff\xfe\x01\x20\x21", "\t\x20\x20\x20\x20\x20\x20\x20\t\x21\x20\x20\x1f"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for from := range len(b) + 1 {
			if got, want := findControl(b, from), findControlPlain(b, from); got != want {
				t.Fatalf("findControl(%q, %d) = %d, want %d", b, from, got, want)
			}
			if got, want := findInvisible(b[from:]), findInvisiblePlain(b[from:]); got != want {
				t.Fatalf("findInvisible(%q) = %d, want %d", b[from:], got, want)
			}
		}
	})
}

// TestScansAgreeOnAllPairs compares them for all pairs of neighbouring bytes in a word.
func TestScansAgreeOnAllPairs(t *testing.T) {
	b := []byte("abcdefghi")
	for one := range 256 {
		for two := range 256 {
			b[3], b[4] = byte(one), byte(two)
			if got, want := findControl(b, 0), findControlPlain(b, 0); got != want {
				t.Fatalf("findControl(%q) = %d, want %d", b, got, want)
			}
			if got, want := findInvisible(b), findInvisiblePlain(b); got != want {
				t.Fatalf("findInvisible(%q) = %d, want %d", b, got, want)
			}
		}
	}
}

func BenchmarkFindControl(b *testing.B) {
	line := []byte("User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:130.0)\r\n")
	b.Run("words", func(b *testing.B) {
		for b.Loop() {
			findControl(line, 0)
		}
	})
	b.Run("plain", func(b *testing.B) {
		for b.Loop() {
			findControlPlain(line, 0)
		}
	})
}
