package where

import (
	"slices"
	"strings"
	"testing"

	"github.com/weirhq/weir/log/record"
)

// FuzzWhere parses and evaluates any text. What parses is written by String as
// an expression that parses to the same, and the column of an error lies in the
// text.
func FuzzWhere(f *testing.F) {
	for _, seed := range []string{
		`http.status_code >= 500 && http.duration > 1s`, `"1s" + '2ms' == 3h`, "`\\` matches 1m30s",
		`a1s 1.5s 1s5 .5s 1..2`,
		`any(errors, {.message startsWith "dial" and # != nil}) ? data["a b"].in : not true`,
		`let x = 8MiB; x in 1..2 ** -3`,
		`event | lower() not contains "x" ?? data.user?.tags[1:-1]`, `1s < http.duration < 2s`,
		`level in ["warn", 'error']`, `data[`,
	} {
		f.Add(seed)
	}
	r, err := record.Parse([]byte(whereEvent))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, source string) {
		condition, err := Compile(source)
		if err == nil {
			_, err = condition.Holds(&r)
		}
		if err != nil {
			if e := err.(*Error); e.Offset < 0 || e.Offset > 0 && e.Offset >= len(source) || e.Error() == "" {
				t.Fatalf("%q: offset %d of %q", source, e.Offset, e.Text)
			}
		}
		parsed, mistake := parse(source, takesPredicate)
		if mistake != nil {
			return
		}
		again, mistake := parse(parsed.String(), takesPredicate)
		if mistake != nil && strings.HasSuffix(mistake.Text, "nested too deeply") {
			return // String adds parentheses
		}
		if mistake != nil || !same(again, parsed) {
			t.Fatalf("%q is written as %q: %+v", source, parsed, mistake)
		}
	})
}

// same reports whether two expressions differ in their places in the source at
// most.
func same(a, b *expr) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.form == b.form && a.text == b.text && a.value == b.value && a.kind == b.kind &&
		slices.EqualFunc(a.of, b.of, same)
}
