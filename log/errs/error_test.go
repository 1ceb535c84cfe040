package errs_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync"
	"testing"

	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/errs"
)

func TestMessageJoinsTextAndCause(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{errs.New("no such user"), "no such user"},
		{errs.Wrap(io.EOF, "reading"), "reading: EOF"},
		{errs.Wrap(io.EOF, "").Int("line", 4), "EOF"},
		{errs.Wrap(errs.Wrap(errs.New("c"), "b"), "a"), "a: b: c"},
		{errs.Wrap(errors.Join(io.EOF, io.ErrClosedPipe), "a"), "a: EOF\nio: read/write on closed pipe"},
		{fmt.Errorf("a: %w", errs.New("b")), "a: b"},
		{&errs.Error{}, ""},
	} {
		if got := c.err.Error(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestWrapOfNilReportsTheMistake(t *testing.T) {
	var err error = errs.Wrap(nil, "saving user").Int64("user_id", 1)
	if want := "saving user: nil was wrapped, there was no error"; err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
	if got := loggedOnce(t, err); len(got.StackTrace) == 0 {
		t.Errorf("no stack to find the mistake by: %+v", got)
	}
}

// TestNilErrorIsLoggedWithMessage logs a nil *Error returned as error, the mistake described in
// the type's comment.
func TestNilErrorIsLoggedWithMessage(t *testing.T) {
	missing := func() error { var err *errs.Error; return err }
	for name, c := range map[string]struct {
		err     error
		message string
		stack   bool
	}{
		"itself":     {missing(), "nil *errs.Error", false},
		"inside":     {fmt.Errorf("a: %w", missing()), "a: nil *errs.Error", false},
		"wrapped":    {errs.Wrap(missing(), "a"), "a: nil *errs.Error", true},
		"with words": {fmt.Errorf("%+v", missing()), "nil *errs.Error", false},
	} {
		got := loggedOnce(t, c.err)
		if got.Message != c.message || (len(got.StackTrace) > 0) != c.stack || got.Data != nil {
			t.Errorf("%s: got %+v, want the message %q", name, got, c.message)
		}
	}
}

// A pathError is a cause for errors.As to find.
type pathError struct{ path string }

func (e *pathError) Error() string        { return e.path }
func (e *pathError) Is(target error) bool { return target == fs.ErrNotExist }

func TestChainIsSeenByErrors(t *testing.T) {
	cause := &pathError{"/etc/x"}
	inner := errs.Wrap(cause, "inner").Int("n", 1)
	for name, err := range map[string]error{
		"wrapped":       errs.Wrap(inner, "outer").Str("a", "b"),
		"by fmt":        fmt.Errorf("outer: %w", inner),
		"joined":        errors.Join(io.EOF, errs.Wrap(inner, "")),
		"joined inside": errs.Wrap(errors.Join(io.EOF, inner), "outer"),
	} {
		var found *pathError
		if !errors.As(err, &found) || found != cause {
			t.Errorf("%s: As found %v, want the cause", name, found)
		}
		var first *errs.Error
		if !errors.As(err, &first) {
			t.Errorf("%s: As found no *errs.Error", name)
		}
		for _, target := range []error{cause, inner, fs.ErrNotExist} {
			if !errors.Is(err, target) {
				t.Errorf("%s: Is(%v) = false, want true", name, target)
			}
		}
		if errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: Is found an error that is not in the chain", name)
		}
	}
	if got := errors.Unwrap(inner); got != cause {
		t.Errorf("Unwrap = %v, want the cause", got)
	}
	if got := errors.Unwrap(errs.New("x")); got != nil {
		t.Errorf("Unwrap of New = %v, want nil", got)
	}
}

// The functions below make errors. The tests search for their names in stacks.

//go:noinline
func makeNew() error { return errs.New("new") }

//go:noinline
func makeWrap() error { return errs.Wrap(io.EOF, "wrap") }

//go:noinline
func passOn(err error) error { return errs.Wrap(err, "passed on") }

func makeInlined() error { return errs.New("inlined") }

func makeDeep(n int) error {
	if n == 0 {
		return makeNew()
	}
	return makeDeep(n - 1)
}

// A foreign error has a stack made by another package.
type foreign struct{ pcs []uintptr }

func (f *foreign) Error() string      { return "foreign" }
func (f *foreign) Callers() []uintptr { return f.pcs }

func makeForeign() error {
	var known log.Stacker
	errors.As(makeNew(), &known)
	return &foreign{known.Callers()}
}

func TestStackIsOfOrigin(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want string // the innermost function
	}{
		"new":              {makeNew(), "makeNew"},
		"wrap":             {makeWrap(), "makeWrap"},
		"inlined":          {makeInlined(), "makeInlined"},
		"wrapped twice":    {passOn(passOn(makeWrap())), "makeWrap"},
		"through fmt":      {passOn(fmt.Errorf("x: %w", makeNew())), "makeNew"},
		"through join":     {passOn(errors.Join(io.EOF, makeNew())), "makeNew"},
		"foreign":          {passOn(makeForeign()), "makeNew"},
		"wrapped by fmt":   {fmt.Errorf("x: %w", passOn(io.EOF)), "passOn"},
		"joined with none": {passOn(errors.Join(io.EOF, io.EOF)), "passOn"},
	} {
		t.Run(name, func(t *testing.T) {
			frames := loggedOnce(t, c.err).StackTrace
			if len(frames) == 0 {
				t.Fatal("no stack")
			}
			if !strings.HasSuffix(frames[0].Function, "errs_test."+c.want) ||
				!strings.HasSuffix(frames[0].File, "/error_test.go") {
				t.Errorf("innermost is %+v, want %s", frames[0], c.want)
			}
			var s log.Stacker
			if !errors.As(c.err, &s) || len(s.Callers()) == 0 {
				t.Errorf("the outermost *errs.Error gives no stack")
			}
		})
	}
}

func TestStackIsBounded(t *testing.T) {
	if got := len(loggedOnce(t, makeDeep(100)).StackTrace); got != 32 {
		t.Errorf("%d frames, want 32", got)
	}
}

func TestZeroHasNoStack(t *testing.T) {
	if got := (&errs.Error{}).Callers(); got != nil {
		t.Errorf("got %v, want nil", got)
	}
}

// An endless error wraps itself.
type endless struct{}

func (e endless) Error() string { return "endless" }
func (e endless) Unwrap() error { return e }

// A forest wraps itself twice.
type forest struct{}

func (f forest) Error() string   { return "forest" }
func (f forest) Unwrap() []error { return []error{f, f} }

func TestEndlessChainsAreLogged(t *testing.T) {
	for _, cause := range []error{endless{}, forest{}} {
		got := loggedOnce(t, errs.Wrap(cause, "wrapped"))
		if want := "wrapped: " + cause.Error(); got.Message != want || len(got.StackTrace) == 0 {
			t.Errorf("got %+v, want message %q and a stack", got, want)
		}
	}
}

func TestJoinedErrorsAreLoggedApart(t *testing.T) {
	got := logged(t, errors.Join(passOn(io.EOF), errs.New("second").Int("n", 2)))
	if len(got) != 2 {
		t.Fatalf("%d errors, want 2: %+v", len(got), got)
	}
	if got[0].Message != "passed on: EOF" || got[1].Message != "second" || string(got[1].Data) != `{"n":2}` {
		t.Errorf("got %+v", got)
	}
	for _, e := range got {
		if len(e.StackTrace) == 0 {
			t.Errorf("%s has no stack", e.Message)
		}
	}
}

// TestGoroutinesMayLogOneError logs and prints one error in several goroutines, for the
// race detector.
func TestGoroutinesMayLogOneError(t *testing.T) {
	err := passOn(errs.New("x").Str("a", "b").Int("n", 1).Any("list", []int{1, 2}).Bool("c", true))
	want := fmt.Sprintf("%+v", err)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 50 {
				if got := loggedOnce(t, err); string(got.Data) != `{"a":"b","n":1,"list":[1,2],"c":true}` {
					t.Errorf("got %s", got.Data)
				}
				if got := fmt.Sprintf("%+v", err); got != want {
					t.Errorf("got %s, want %s", got, want)
				}
			}
		})
	}
	all.Wait()
}

// A link is changed after it was wrapped.
type link struct{ next error }

func (l *link) Error() string { return "link" }
func (l *link) Unwrap() error { return l.next }

func TestCycleHasNoCallers(t *testing.T) {
	l := &link{errs.New("origin")}
	wrapped := errs.Wrap(l, "wrapped")
	l.next = wrapped
	if got := wrapped.Callers(); got != nil {
		t.Errorf("got %d callers of a cycle that knows none", len(got))
	}
}
