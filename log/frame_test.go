package log_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/weirhq/weir/log"
)

// pkgFrame, pkgStack and traced have the same shape as Frame, StackTrace and
// the errors of github.com/pkg/errors. The errors of
// github.com/cockroachdb/errors have the same method.
type (
	pkgFrame uintptr
	pkgStack []pkgFrame
	traced   struct {
		error
		pcs []uintptr
	}
)

func (t *traced) StackTrace() pkgStack {
	all := make(pkgStack, len(t.pcs))
	for i, pc := range t.pcs {
		all[i] = pkgFrame(pc)
	}
	return all
}

func (t *traced) Unwrap() error { return t.error }

//go:noinline
func failsTraced(cause error) error { return &traced{cause, here()} }

// Errors with another method named StackTrace.
type (
	textTrace   struct{ error }
	stringTrace struct{ error }
	askedTrace  struct{ error }
	badTrace    struct{ error }
)

func (textTrace) StackTrace() string         { return "main.main" }
func (stringTrace) StackTrace() []string     { return []string{"main.main"} }
func (askedTrace) StackTrace(int) []pkgFrame { return nil }
func (badTrace) StackTrace() []pkgFrame      { panic("why") }

func TestStackTraceMethodGivesTheStack(t *testing.T) {
	plain := errors.New("plain")
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"itself":                   {failsTraced(plain), "log_test.failsTraced"},
		"wrapped":                  {fmt.Errorf("a: %w", failsTraced(plain)), "log_test.failsTraced"},
		"around a Stacker":         {failsTraced(failsWithStack()), "log_test.failsWithStack"},
		"in a Stacker":             {&rich{text: "r", pcs: deep(1), cause: failsTraced(plain)}, "log_test.failsTraced"},
		"empty":                    {&traced{error: plain}, ""},
		"a text":                   {textTrace{plain}, ""},
		"texts":                    {stringTrace{plain}, ""},
		"a method with parameters": {askedTrace{plain}, ""},
		"a panic":                  {badTrace{plain}, ""},
		"a nil pointer":            {(*traced)(nil), ""},
	} {
		t.Run(name, func(t *testing.T) {
			for range 2 { // the second time, the type is cached
				line := lineOf(t, func(e log.Event) log.Event { return e.Err(c.err) })
				if got := stacksOf(t, line); len(got) != 1 || got[0] != c.want {
					t.Errorf("innermost function %q, want %q", got, c.want)
				}
			}
		})
	}
}
