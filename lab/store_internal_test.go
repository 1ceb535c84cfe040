package lab

import "testing"

func TestProfileStemIsAFileName(t *testing.T) {
	const want = "03-output=pipe-256KiB-s-GOGC=10"
	if got := profileStem(3, "output=pipe 256KiB/s GOGC=10"); got != want {
		t.Errorf("the stem is %q, want %q", got, want)
	}
}
