package where

import (
	"strings"
	"testing"

	"github.com/weirhq/weir/log/record"
)

// FuzzWhere compiles and evaluates any text. The column of an error lies in the
// text, and parentheses around a condition change nothing.
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
		holds, mistake, failure := evaluate(source, &r)
		for _, err := range []*Error{mistake, failure} {
			if err != nil && (err.Offset < 0 || err.Offset > 0 && err.Offset >= len(source) || err.Error() == "") {
				t.Fatalf("%q: offset %d of %q", source, err.Offset, err.Text)
			}
		}
		if mistake != nil {
			return
		}
		again, mistake, otherFailure := evaluate("("+source+"\n)", &r)
		switch {
		case mistake != nil && strings.HasSuffix(mistake.Text, "nested too deeply"):
		case mistake != nil || holds != again || (failure == nil) != (otherFailure == nil):
			t.Fatalf("%q: %v, %v; in parentheses: %v, %v, %v", source, holds, failure, again, otherFailure, mistake)
		case failure != nil && (failure.Text != otherFailure.Text || failure.Offset+1 != otherFailure.Offset):
			t.Fatalf("%q fails: %v; in parentheses: %v", source, failure, otherFailure)
		}
	})
}

// evaluate returns whether an event meets a condition, the mistake in the condition,
// and the failure of its evaluation.
func evaluate(source string, r *record.Record) (holds bool, mistake, failure *Error) {
	condition, err := Compile(source)
	if err != nil {
		return false, err.(*Error), nil
	}
	holds, err = condition.Holds(r)
	failure, _ = err.(*Error)
	return holds, nil, failure
}
