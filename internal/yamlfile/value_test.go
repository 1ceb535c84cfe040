package yamlfile_test

import (
	"testing"
	"time"

	"github.com/weirhq/weir/internal/yamlfile"
)

func TestSizesAreParsed(t *testing.T) {
	for text, want := range map[string]int64{
		"0B": 0, "1B": 1, "16KiB": 16 << 10, "100MiB": 100 << 20, "3GiB": 3 << 30, "1025B": 1025,
		"1KB": -1, "1": -1, "-1B": -1, "B": -1, "": -1, "9999999999GiB": -1, "1.5MiB": -1,
	} {
		got, refused := yamlfile.Size(yamlfile.Scalar{Text: text})
		if refused != nil {
			got = -1
		}
		if got != want {
			t.Errorf("Size(%q) = %d, %v, want %d", text, got, refused, want)
		}
		if want >= 0 {
			if shown := yamlfile.ShowSize(want); shown != text {
				t.Errorf("ShowSize(%d) = %q, want %q", want, shown, text)
			}
		}
	}
}

func TestDurationsAreParsed(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"365d": 365 * 24 * time.Hour, "0d": 0, "1.5d": -1, "-1d": -1, "99999999999d": -1, "36501d": -1, "d": -1,
		"0s": 0, "300ms": 300 * time.Millisecond, "1h2m": 62 * time.Minute,
		"1": -1, "-1s": -1, "soon": -1, "": -1,
	} {
		got, refused := yamlfile.Duration(yamlfile.Scalar{Text: text})
		if refused != nil {
			got = -1
		}
		if got != want {
			t.Errorf("Duration(%q) = %v, %v, want %v", text, got, refused, want)
		}
	}
}
