package log_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/weirhq/weir/log"
)

// A rich error has a stack, a field and a cause.
type rich struct {
	text  string
	pcs   []uintptr
	cause error
}

func (r *rich) Error() string      { return r.text }
func (r *rich) Callers() []uintptr { return r.pcs }
func (r *rich) Unwrap() error      { return r.cause }
func (r *rich) MarshalLog(e log.Event) error {
	e.Str("from", r.text)
	return nil
}

func here() []uintptr {
	pcs := make([]uintptr, 100)
	return pcs[:runtime.Callers(2, pcs)]
}

func deep(n int) []uintptr {
	if n == 0 {
		return here()
	}
	return deep(n - 1)
}

type endless struct{}

func (e endless) Error() string { return "endless" }
func (e endless) Unwrap() error { return e }

type badUnwrap struct{ endless }

func (badUnwrap) Unwrap() error { panic("why") }

type badFields struct{ error }

func (badFields) MarshalLog(e log.Event) error {
	e.Str("half", "x").Err(errRefused)
	return errors.New("no")
}

type badStack struct{ error }

func (badStack) Callers() []uintptr { panic("why") }

type badAll struct{ badUnwrap }

func (badAll) Callers() []uintptr         { panic("stack") }
func (badAll) MarshalLog(log.Event) error { return errors.New("no") }

func TestErrAddsEachError(t *testing.T) {
	plain := errors.New("plain")
	for name, c := range map[string]struct {
		errs []error
		want string
	}{
		"nil":       {[]error{nil}, ""},
		"plain":     {[]error{plain}, `,"errors":[{"message":"plain"}]`},
		"two calls": {[]error{plain, errors.New("2")}, `,"errors":[{"message":"plain"},{"message":"2"}]`},
		"wrapped":   {[]error{fmt.Errorf("a: %w", plain)}, `,"errors":[{"message":"a: plain"}]`},
		"joined": {[]error{errors.Join(plain, nil, errors.Join(plain, &rich{text: "r"}))},
			`,"errors":[{"message":"plain"},{"message":"plain"},{"message":"r","data":{"from":"r"}}]`},
		"two causes": {[]error{fmt.Errorf("%w, %w", &rich{text: "1"}, &rich{text: "2"})},
			`,"errors":[{"message":"1, 2","data":{"from":"1","from":"2"}}]`},
		"chain": {[]error{fmt.Errorf("a: %w", &rich{text: "b", cause: &rich{text: "c"}})},
			`,"errors":[{"message":"a: b","data":{"from":"b","from":"c"}}]`},
		"endless":   {[]error{endless{}}, `,"errors":[{"message":"endless"}]`},
		"panicking": {[]error{badError{panicking{"why"}}}, `,"errors":[{"message":"!ERROR: panic: why"}]`},
		"nil inside": {[]error{badError{}}, `,"errors":[{"message":"!ERROR: panic: runtime error: invalid memory ` +
			`address or nil pointer dereference"}]`},
		"bad unwrap": {[]error{badUnwrap{}}, `,"errors":[{"message":"endless","data":{"error":"!ERROR: panic: why"}}]`},
		"bad fields": {[]error{badFields{plain}}, `,"errors":[{"message":"plain","data":{"error":"!ERROR: no"}}]`},
		"bad stack": {[]error{badStack{plain}},
			`,"errors":[{"message":"plain","data":{"error":"!ERROR: panic: why"}}]`},
		"all bad": {[]error{badAll{}}, `,"errors":[{"message":"endless","data":{"error":"!ERROR: panic: stack"}}]`},
	} {
		t.Run(name, func(t *testing.T) {
			line := lineOf(t, func(e log.Event) log.Event {
				for _, err := range c.errs {
					e.Err(err)
				}
				return e.Int("after", 1)
			})
			want := prefix + `,"severity":3,"data":{"after":1}` + c.want + "}\n"
			if line != want {
				t.Errorf("got  %swant %s", line, want)
			}
		})
	}
}

// TestNilPointerAsErrorIsLogged adds a nil pointer as error. Most of its methods panic.
func TestNilPointerAsErrorIsLogged(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"itself": {(*rich)(nil), `[{"message":"!ERROR: nil pointer of type *log_test.rich"}]`},
		"inside": {fmt.Errorf("a: %w", (*rich)(nil)), `[{"message":"a: \u003cnil\u003e"}]`},
	} {
		line := lineOf(t, func(e log.Event) log.Event { return e.Err(c.err).Int("after", 1) })
		var event struct{ Errors, Data any }
		if err := json.Unmarshal([]byte(line), &event); err != nil {
			t.Fatal(err)
		}
		got, err := json.Marshal(event.Errors)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}

func TestStackTraceIsOfInnermostError(t *testing.T) {
	err := fmt.Errorf("a: %w", &rich{text: "outer", pcs: here(), cause: &rich{text: "inner", pcs: deep(50)}})
	line := lineOf(t, func(e log.Event) log.Event { return e.Err(err) })
	var event struct {
		Errors []struct {
			StackTrace []struct {
				File     string
				Line     int
				Function string
			} `json:"stack_trace"`
		}
	}
	if err := json.Unmarshal([]byte(line), &event); err != nil {
		t.Fatalf("%v in %s", err, line)
	}
	frames := event.Errors[0].StackTrace
	if len(frames) != 32 {
		t.Errorf("%d frames, want 32", len(frames))
	}
	for _, f := range frames {
		if !strings.HasSuffix(f.File, "error_test.go") || f.Line == 0 ||
			!strings.HasSuffix(f.Function, "log_test.deep") {
			t.Errorf("frame %+v, want one of deep: the stack is that of the innermost error", f)
			break
		}
	}
}

func TestJoinedCycleEnds(t *testing.T) {
	cycle := errors.Join(errors.New("one"), errors.New("two"))
	cycle.(interface{ Unwrap() []error }).Unwrap()[0] = cycle
	line := lineOf(t, func(e log.Event) log.Event { return e.Err(cycle) })
	for _, want := range []string{"!ERROR: nested too deeply", `"message":"two"`} {
		if !strings.Contains(line, want) {
			t.Errorf("got no %s in %.400s", want, line)
		}
	}
}
