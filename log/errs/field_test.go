package errs_test

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/errs"
)

var instant = time.Date(2026, 11, 21, 2, 6, 14, 123456000, time.UTC)

type user struct{ name string }

func (u *user) MarshalLog(e log.Event) error {
	if u.name == "" {
		return errors.New("user without a name")
	}
	e.Str("name", u.name)
	return nil
}

func TestFieldsAreLoggedAsJSON(t *testing.T) {
	for want, add := range map[string]func(*errs.Error) *errs.Error{
		`{"k":"v \"\u001b[31m"}`:     func(e *errs.Error) *errs.Error { return e.Str("k", "v \"\x1b[31m") },
		`{"k":-1}`:                   func(e *errs.Error) *errs.Error { return e.Int("k", -1) },
		`{"k":-9223372036854775808}`: func(e *errs.Error) *errs.Error { return e.Int64("k", math.MinInt64) },
		`{"k":18446744073709551615}`: func(e *errs.Error) *errs.Error { return e.Uint64("k", math.MaxUint64) },
		`{"k":1e-9}`:                 func(e *errs.Error) *errs.Error { return e.Float64("k", 1e-9) },
		`{"k":"NaN"}`:                func(e *errs.Error) *errs.Error { return e.Float64("k", math.NaN()) },
		`{"k":true}`:                 func(e *errs.Error) *errs.Error { return e.Bool("k", true) },
		`{"k":1500000000}`: func(e *errs.Error) *errs.Error {
			return e.Dur("k", 1500*time.Millisecond)
		},
		`{"k":"2026-11-21T02:06:14.123456Z"}`: func(e *errs.Error) *errs.Error { return e.Time("k", instant) },
		`{"k":[1,2]}`:                         func(e *errs.Error) *errs.Error { return e.Any("k", []int{1, 2}) },
		`{"k":null}`:                          func(e *errs.Error) *errs.Error { return e.Any("k", nil) },
		`{"k":"text"}`:                        func(e *errs.Error) *errs.Error { return e.Any("k", "text") },
		`{"k":0.1}`:                           func(e *errs.Error) *errs.Error { return e.Any("k", float32(0.1)) },
		`{"k":{"name":"Ada"}}`:                func(e *errs.Error) *errs.Error { return e.Any("k", &user{"Ada"}) },
		`{"k":"!ERROR: user without a name"}`: func(e *errs.Error) *errs.Error { return e.Any("k", &user{}) },
		`{"a":"1","b":2,"c":3,"d":4,"a":5}`: func(e *errs.Error) *errs.Error {
			return e.Str("a", "1").Int("b", 2).Int("c", 3).Int("d", 4).Int("a", 5)
		},
	} {
		if got := loggedOnce(t, add(errs.New("x"))); string(got.Data) != want {
			t.Errorf("got %s, want %s", got.Data, want)
		}
	}
}

func TestZeroTakesFields(t *testing.T) {
	if got := loggedOnce(t, new(errs.Error).Int("n", 1)); string(got.Data) != `{"n":1}` {
		t.Errorf("got %s", got.Data)
	}
}

func TestFieldsOfChainAreOutermostFirst(t *testing.T) {
	inner := errs.New("inner").Int("id", 1).Str("at", "inner")
	err := errs.Wrap(fmt.Errorf("by fmt: %w", inner), "outer").Int("id", 2)
	if got, want := string(loggedOnce(t, err).Data), `{"id":2,"id":1,"at":"inner"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := string(loggedOnce(t, inner).Data), `{"id":1,"at":"inner"}`; got != want {
		t.Errorf("after wrapping: got %s, want %s", got, want)
	}
}

// TestCopiesShareNoFields copies an error, which is not advised, and adds
// fields to both.
func TestCopiesShareNoFields(t *testing.T) {
	one := errs.New("x").Int("n", 1)
	other := *one
	one.Int("m", 2)
	other.Int("m", 3)
	if got := string(loggedOnce(t, one).Data); got != `{"n":1,"m":2}` {
		t.Errorf("got %s", got)
	}
	if got := string(loggedOnce(t, &other).Data); got != `{"n":1,"m":3}` {
		t.Errorf("the copy: got %s", got)
	}
}
