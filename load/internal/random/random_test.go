package random

import (
	"math"
	"testing"
)

func TestBelowScalesToTheSpan(t *testing.T) {
	for _, c := range []struct{ n, span, want uint64 }{
		{0, 5, 0}, {math.MaxUint64, 5, 4}, {math.MaxUint64, 1, 0}, {17, 0, 17}, {1 << 63, 10, 5},
	} {
		if got := Below(c.n, c.span); got != c.want {
			t.Errorf("Below(%d, %d) = %d, want %d", c.n, c.span, got, c.want)
		}
	}
}

func TestAppendUUIDWritesVersion4(t *testing.T) {
	if got := string(AppendUUID(nil, 0x0123456789abcdef,
		0xf123456789abcdef)); got != "01234567-89ab-4def-b123-456789abcdef" {
		t.Errorf("the bytes are written as %s", got)
	}
}
