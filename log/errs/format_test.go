package errs_test

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/log/errs"
)

func TestVerbsFormatAsForPlainErrors(t *testing.T) {
	err := errs.Wrap(io.EOF, "read \"x\"").Int("n", 1)
	plain := errors.New(err.Error())
	for _, format := range []string{"%v", "%s", "%q", "%x", "% X", "%20s|", "%-20v|", "%.3s"} {
		if got, want := fmt.Sprintf(format, err), fmt.Sprintf(format, plain); got != want {
			t.Errorf("%s: got %q, want %q", format, got, want)
		}
	}
	if got, want := fmt.Sprintf("%d", err), `%!d(*errs.Error=read "x": EOF)`; got != want {
		t.Errorf("%%d: got %q, want %q", got, want)
	}
}

func TestDetailedFormHasFieldsAndStack(t *testing.T) {
	err := errs.Wrap(passOn(makeNew()), "outer").
		Str("a", "two words").Str("empty", "").Any("list", []int{1}).
		Dur("d", time.Second).Str("control", "\x1b[31m").Float64("f", 0.5)
	first, stack, _ := strings.Cut(fmt.Sprintf("%+v", err), "\n")
	want := `outer: passed on: new a="two words" empty="" list=[1] d=1s control="\x1b[31m" f=0.5`
	if first != want {
		t.Errorf("got  %s\nwant %s", first, want)
	}
	frame := regexp.MustCompile(`^    \S+ \S+:\d+$`)
	lines := strings.Split(stack, "\n")
	for _, line := range lines {
		if !frame.MatchString(line) {
			t.Errorf("line %q is not a frame", line)
		}
	}
	if !strings.Contains(lines[0], "errs_test.makeNew ") || !strings.Contains(lines[1], "errs_test.TestDetailedFormHasFieldsAndStack ") {
		t.Errorf("got %q, want makeNew and its caller first", lines)
	}
}

func TestDetailedHasFieldsOfChain(t *testing.T) {
	err := errs.Wrap(fmt.Errorf("x: %w", errs.New("inner").Int("n", 1)), "outer").Int("n", 2)
	if got, want := fmt.Sprintf("%+v", err), "outer: x: inner n=2 n=1\n"; !strings.HasPrefix(got, want) {
		t.Errorf("got %q, want %q first", got, want)
	}
	if got := fmt.Sprintf("%+v", &errs.Error{}); got != "" {
		t.Errorf("the zero Error: got %q, want nothing", got)
	}
}
