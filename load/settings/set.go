package settings

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/weirhq/weir/internal/nearest"
)

// Set sets a setting to a value from a flag or a file of YAML or JSON: a text, a number, a
// bool, a list of them, or nil for the default. A number may be given as a text, and a
// list of one element as that element. A 0 is an error for a setting that cannot be 0,
// since it would mean the default.
//
// Errors are of type *Error, and leave s unchanged.
func (s *Settings) Set(name string, value any) error {
	var names []string
	for _, f := range s.Fields() {
		if f.Name == name {
			if err := f.set(value); err != nil {
				err.Setting = name
				return err
			}
			return nil
		}
		names = append(names, f.Name)
	}
	hint := "there are " + strings.Join(names, ", ")
	if near := nearest.Word(name, names); near != "" {
		hint = "it may be " + near
	}
	return &Error{name, errors.New("there is no such setting"), hint}
}

// set sets the field. The caller sets the Setting of the error.
func (f *Field) set(value any) *Error {
	switch field := f.Value.(type) {
	case *string:
		return put(field, value, text)
	case *[]string:
		return put(field, value, texts)
	case *bool:
		return put(field, value, truth)
	case *uint64:
		return put(field, value, allowed(f, number(func(s string) (uint64, error) { return strconv.ParseUint(s, 10, 64) },
			"whole number from 1 on")))
	case *int:
		return put(field, value, allowed(f, number(strconv.Atoi, "whole number")))
	case *int64:
		return put(field, value, allowed(f, number(func(s string) (int64, error) { return strconv.ParseInt(s, 10, 64) },
			"whole number")))
	case *float64:
		return put(field, value, allowed(f, number(finite, "number")))
	case *time.Duration:
		return put(field, value, allowed(f, lasting))
	}
	panic(fmt.Sprintf("settings: %s is a %T", f.Name, f.Value))
}

// A reader converts a value to the type of a setting.
type reader[T any] func(value any) (T, *Error)

// put sets a field; nil is its zero value.
func put[T any](field *T, value any, read reader[T]) *Error {
	var v T
	if value != nil {
		var err *Error
		if v, err = read(value); err != nil {
			return err
		}
	}
	*field = v
	return nil
}

// allowed returns a reader that also rejects negative numbers, and 0 for a setting that
// cannot be 0.
func allowed[T int | int64 | uint64 | float64 | time.Duration](f *Field, read reader[T]) reader[T] {
	return func(value any) (T, *Error) {
		v, err := read(value)
		switch {
		case err != nil:
		case v < 0 && f.Name != "pid":
			err = wrong("", "%v is negative", v)
		case v == 0 && f.unset != "":
			err = wrong("leave it out for the default: "+f.unset, "%v is not possible", v)
		}
		return v, err
	}
}

func wrong(hint, format string, args ...any) *Error {
	return &Error{Err: fmt.Errorf(format, args...), Hint: hint}
}

// text reads a text or a number.
func text(value any) (string, *Error) {
	switch v := value.(type) {
	case string:
		return v, nil
	case int:
		return strconv.Itoa(v), nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	case uint64:
		return strconv.FormatUint(v, 10), nil
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), nil
	}
	return "", wrong("", "%v is not a text", value)
}

func texts(value any) ([]string, *Error) {
	var list []any
	switch v := value.(type) {
	case []string:
		return v, nil
	case []any:
		list = v
	default:
		list = []any{value}
	}
	var all []string
	for _, v := range list {
		t, err := text(v)
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}

func truth(value any) (bool, *Error) {
	switch value {
	case true, "true":
		return true, nil
	case false, "false":
		return false, nil
	}
	return false, wrong("", "%v is neither true nor false", value)
}

// number returns a reader that uses a parser. kind names its result for error messages.
func number[T any](parse func(string) (T, error), kind string) reader[T] {
	return func(value any) (T, *Error) {
		var v T
		s, bad := text(value)
		if bad != nil {
			return v, wrong("", "%v is not a %s", value, kind)
		}
		v, err := parse(s)
		switch {
		case errors.Is(err, strconv.ErrRange):
			return v, wrong("", "%s is too large", s)
		case err != nil:
			return v, wrong(writtenOut(s), "%q is not a %s", s, kind)
		}
		return v, nil
	}
}

func finite(s string) (float64, error) {
	v, err := strconv.ParseFloat(s, 64)
	if math.IsNaN(v) || math.IsInf(v, 0) && err == nil {
		return 0, strconv.ErrSyntax
	}
	return v, err
}

// writtenOut returns a hint for a number such as 10k or 1.5M. It is only a hint, because m
// may also be a minute or a thousandth.
func writtenOut(s string) string {
	factor := 1.0
	for suffix, f := range map[string]float64{"k": 1e3, "K": 1e3, "m": 1e6, "M": 1e6, "G": 1e9} {
		if short, ok := strings.CutSuffix(s, suffix); ok {
			s, factor = short, f
			break
		}
	}
	v, err := finite(strings.ReplaceAll(s, ",", ""))
	if v *= factor; err != nil || v <= 0 || v != math.Trunc(v) || v > 1e15 {
		return ""
	}
	return "numbers are written out: " + strconv.FormatFloat(v, 'f', -1, 64)
}

func lasting(value any) (time.Duration, *Error) {
	s, bad := text(value)
	if bad != nil {
		return 0, wrong("", "%v is not a time; write 30s", value)
	}
	d, err := time.ParseDuration(s)
	if err == nil {
		return d, nil
	}
	hint := ""
	if v, err := finite(s); err == nil && v > 0 {
		hint = "a time has a unit: " + s + "s"
	}
	return 0, wrong(hint, "%q is not a time such as 500ms, 30s or 5m", s)
}
