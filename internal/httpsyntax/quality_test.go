package httpsyntax

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
)

func TestCodingQualityFollowsAcceptEncoding(t *testing.T) {
	for _, c := range []struct {
		field, coding string
		want          int
	}{
		{"", "gzip", 0},
		{"gzip", "gzip", 1000},
		{"GZip , br", "gzip", 1000},
		{"x-gzip", "gzip", 1000},
		{"gzip, br", "zstd", 0},
		{"gzip;q=0.5, br;q=1.0", "gzip", 500},
		{"gzip ; Q=0.123", "gzip", 123},
		{"gzip;q=0", "gzip", 0},
		{"gzip;q=0.000, *", "gzip", 0},
		{"*;q=0, gzip", "gzip", 1000},
		{"*", "br", 1000},
		{"identity;q=1, *;q=0.1", "br", 100},
		{"gzip;q=2", "gzip", 0},
		{"gzip;q=1.001", "gzip", 0},
		{"gzip;q=0.1234", "gzip", 0},
		{"gzip;q=.5", "gzip", 0},
		{"gzip;level=1", "gzip", 0},
		{"gzip;q=0x5", "gzip", 0},
		{", ,gzip", "gzip", 1000},
		{"gzipped", "gzip", 0},
	} {
		if got := CodingQuality(c.field, c.coding); got != c.want {
			t.Errorf("CodingQuality(%q, %q) = %d, want %d", c.field, c.coding, got, c.want)
		}
	}
}

func TestMediaQualityFollowsAccept(t *testing.T) {
	for _, c := range []struct {
		field, mediaType string
		want             int
	}{
		{"", "text/html", 0},
		{"text/html", "text/html", 1000},
		{"Text/HTML ; q=0.5", "text/html", 500},
		{"text/*", "text/html", 1000},
		{"text/*", "texts/html", 0},
		{"*/*", "application/json", 1000},
		{"*/*;q=0.8, text/*;q=0.3, text/html;q=0.1", "text/html", 100},
		{"text/html;q=0.1, text/*;q=0.3, */*;q=0.8", "text/html", 100},
		{"text/html;q=0.1, text/*;q=0.3, */*;q=0.8", "text/plain", 300},
		{"text/html;q=0.1, text/*;q=0.3, */*;q=0.8", "application/json", 800},
		{"text/html;level=1", "text/html", 0},
		{"text/html;q=2", "text/html", 0},
		{"application/json, text/html;q=0", "text/html", 0},
		{"*", "text/html", 0},
		{"/", "text/html", 0},
	} {
		if got := MediaQuality(c.field, c.mediaType); got != c.want {
			t.Errorf("MediaQuality(%q, %q) = %d, want %d", c.field, c.mediaType, got, c.want)
		}
	}
}

// FuzzCodingQuality compares with a regular expression for one element.
func FuzzCodingQuality(f *testing.F) {
	for _, s := range []string{"gzip", "gzip;q=0.5", "br;q=1.000,gzip;q=0.1", "*;q=0.3", ";;,q="} {
		f.Add(s)
	}
	element := regexp.MustCompile(`^[ \t]*(?i:(?:x-)?gzip|(\*))[ \t]*(?:;[ \t]*(?:[qQ]=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?))?[ \t]*)?$`)
	f.Fuzz(func(t *testing.T, field string) {
		want, named := 0, false
		for _, e := range strings.Split(field, ",") {
			m := element.FindStringSubmatch(e)
			if m == nil || named {
				continue
			}
			q := 1.0
			if m[2] != "" {
				q, _ = strconv.ParseFloat(m[2], 64)
			}
			want, named = int(q*MaxQuality+0.5), m[1] == ""
		}
		if got := CodingQuality(field, "gzip"); got != want {
			t.Errorf("CodingQuality(%q) = %d, want %d", field, got, want)
		}
	})
}
