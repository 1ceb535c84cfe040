package readable_test

import (
	"testing"

	"github.com/weirhq/weir/internal/readable"
)

func TestParseSizeReadsUnits(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "1": 1, "50000": 50_000, "50kB": 50_000, "50KB": 50_000, "1KiB": 1024, "1kib": 1024, "3MiB": 3 << 20,
		"2GB": 2e9, "7b": 7, "9223372036854775807": 1<<63 - 1,
	} {
		if got, err := readable.ParseSize(text); err != nil || got != want {
			t.Errorf("ParseSize(%q) = %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "KiB", "-1", "+1", "1.5MiB", "1 KiB", "1K", "9223372036854775808",
		"9007199254740992KiB"} {
		if got, err := readable.ParseSize(text); err == nil {
			t.Errorf("ParseSize(%q) = %d, want an error", text, got)
		}
	}
}
