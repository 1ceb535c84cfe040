package files

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestEntityTagChangesWithTheFile(t *testing.T) {
	changed := time.Unix(1_700_000_000, 123456789)
	file := Found{File: File{Size: 10, Modified: changed}}
	base := file.Version()
	longer, later, coded := file, file, file
	longer.Size++
	later.Modified = changed.Add(1)
	coded.Coding = "gzip"
	seen := map[string]bool{base.ETag: true}
	for _, other := range []Found{longer, later, coded} {
		v := other.Version()
		if seen[v.ETag] || !strings.HasPrefix(v.ETag, `"`) || !strings.HasSuffix(v.ETag, `"`) {
			t.Errorf("%+v has the tag %s", other, v.ETag)
		}
		seen[v.ETag] = true
	}
	if !base.Modified.Equal(changed.Truncate(time.Second)) {
		t.Errorf("Modified is %v", base.Modified)
	}
	for _, constant := range []int64{0, 1} {
		var f File
		if err := f.describe(0, 10, time.Unix(constant, 0)); err != nil || !f.Modified.IsZero() {
			t.Errorf("the time %d becomes %v, %v", constant, f.Modified, err)
		}
	}
	if v := (&Found{File: File{Size: 10}}).Version(); v != (Version{}) {
		t.Errorf("a file without a time has the version %+v", v)
	}
}

func TestEntityTagsAreCompared(t *testing.T) {
	const tag = `"x"`
	for _, c := range []struct {
		list         string
		weak, strong bool
	}{
		{`"x"`, true, true},
		{`W/"x"`, true, false},
		{`*`, true, true},
		{` * `, true, true},
		{`"y", W/"x"`, true, false},
		{`"y" ,"x"`, true, true},
		{`,, "x"`, true, true},
		{`"y"`, false, false},
		{``, false, false},
		{`x`, false, false},
		{`"x`, false, false},
		{`"y" "x"`, false, false},
		{`"a,b", "x"`, true, true},
		{`w/"x"`, false, false},
		{`"\"", "x"`, false, false},
		{"\"a b\", \"x\"", false, false},
		{`"", "x"`, true, true},
		{`*, "x"`, false, false},
	} {
		weak, strong := matches(c.list, tag, weakly), matches(c.list, tag, strongly)
		if weak != c.weak || strong != c.strong {
			t.Errorf("%s: %v, %v, want %v, %v", c.list, weak, strong, c.weak, c.strong)
		}
	}
	if matches(`""`, "", weakly) || matches(`"x"`, "", weakly) {
		t.Error("a file without a tag matches")
	}
}

// TestOpenCasesOfRangesAreDecided lists the decisions that RFC 9110 leaves open, where net/http's file server, the
// oracle of package front's tests, differs.
func TestOpenCasesOfRangesAreDecided(t *testing.T) {
	f := &Found{Type: "text/plain", File: File{Size: 100, Modified: time.Unix(1_700_000_000, 0)}}
	for _, c := range []struct {
		field string
		want  string
	}{
		{"bytes=0-9", "206 bytes 0-9/100"},
		{"Bytes=0-9", "206 bytes 0-9/100"},
		{"bytes=90-200", "206 bytes 90-99/100"},
		{"bytes=-10", "206 bytes 90-99/100"},
		{"bytes=-1000", "206 bytes 0-99/100"},
		{"bytes=99-", "206 bytes 99-99/100"},
		{"bytes= 1-2 ,", "206 bytes 1-2/100"},
		{"bytes=0-99999999999999999999", "206 bytes 0-99/100"},
		{"bytes=99999999999999999999-", "416 bytes */100"},
		{"bytes=100-", "416 bytes */100"},
		{"bytes=-0", "416 bytes */100"},
		{"bytes=200-300, 1-2, 400-", "206 bytes 1-2/100"},
		{"items=0-9", "200 "},
		{"bytes=9-0", "200 "},
		{"bytes=a-9", "200 "},
		{"bytes=+1-9", "200 "},
		{"bytes=1-9-", "200 "},
		{"bytes=", "200 "},
		{"bytes", "200 "},
		{"bytes=0-9, x", "200 "},
		{"bytes=-", "200 "},
		{"bytes=0-,0-", "200 "},
		{"bytes=0-49,0-50", "200 "},
		{"bytes=" + strings.Repeat("0-0,", maxRanges-1) + "0-0", "206 "},
		{"bytes=" + strings.Repeat("0-0,", maxRanges) + "0-0", "200 "},
	} {
		r := (&Conditions{Range: c.field}).Respond(f, f.Version(), false)
		if got := fmt.Sprintf("%d %s", r.Status, r.ContentRange); got != c.want {
			t.Errorf("%s: %s, want %s", c.field, got, c.want)
		}
		length := int64(0)
		for _, p := range r.Body {
			length += int64(len(p.Text)) + p.Length
		}
		if length != r.Length || strings.HasPrefix(r.Type, "multipart/") != (len(r.Body) > 1) {
			t.Errorf("%s: the length is %d, and of the parts %d; %s", c.field, r.Length, length, r.Type)
		}
		if r := (&Conditions{Range: c.field}).Respond(f, f.Version(), true); r.Status != http.StatusOK {
			t.Errorf("HEAD, %s: %d", c.field, r.Status)
		}
	}
	empty := &Found{File: File{Modified: f.Modified}}
	if r := (&Conditions{Range: "bytes=0-"}).Respond(empty, empty.Version(), false); r.Status != http.StatusOK {
		t.Errorf("a range of an empty file: %d", r.Status)
	}
}

// FuzzRange checks that the ranges are within the file, and bounded.
func FuzzRange(f *testing.F) {
	for _, s := range []string{"bytes=0-9", "bytes=-5,7-", "bytes=99999999999999999999-", "bytes=1-2,,3-4"} {
		f.Add(s, int64(10))
	}
	f.Fuzz(func(t *testing.T, field string, size int64) {
		if size <= 0 {
			return
		}
		spans, ignored := parseRange(field, size)
		if ignored && spans != nil || len(spans) > maxRanges {
			t.Errorf("%q of %d: %v, ignored %v", field, size, spans, ignored)
		}
		for _, s := range spans {
			if s.from < 0 || s.length <= 0 || s.from > size-s.length {
				t.Errorf("%q of %d: %v", field, size, s)
			}
		}
	})
}
