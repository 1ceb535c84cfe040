// Package mistaketest compares the mistakes in a file with the mistakes that a test expects. It is for
// tests.
package mistaketest

import (
	"strings"
	"testing"
)

// Want compares the mistakes that err joins with their positions and parts of their messages, as
// "line:column part|part". The text of a mistake begins with "file:line:column: ".
func Want(t testing.TB, err error, want []string) {
	t.Helper()
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		t.Fatalf("the error is %T %v, want mistakes", err, err)
	}
	got := joined.Unwrap()
	if len(got) != len(want) {
		t.Fatalf("%d mistakes, want %d:\n%v", len(got), len(want), err)
	}
	for i, want := range want {
		place, parts, _ := strings.Cut(want, " ")
		if !strings.Contains(got[i].Error(), ":"+place+": ") {
			t.Errorf("%v\nstands elsewhere, want %s", got[i], place)
		}
		for part := range strings.SplitSeq(parts, "|") {
			if !strings.Contains(got[i].Error(), part) {
				t.Errorf("%v\ndoes not say %s", got[i], part)
			}
		}
	}
}
