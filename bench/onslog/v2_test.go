package onslog_test

import (
	"bytes"
	"fmt"
	"testing"

	original "github.com/ONSdigital/log.go/v2/log"
	ours "github.com/weirhq/weir/log/onslog/v2"
)

// lastOf returns the bytes written to b since the last call.
func lastOf(b *bytes.Buffer) func() string {
	return func() string {
		defer b.Reset()
		return b.String()
	}
}

// pairV2 returns functions that log to the original and to our package, and return the output.
func pairV2() (them, us func(input) string) {
	var b1, b2 bytes.Buffer
	original.SetDestination(&b1, nil)
	ours.SetDestination(&b2, nil)
	original.Namespace, ours.Namespace = "name<space>", "name<space>"
	them = func(in input) string { return outcome(lastOf(&b1), func() { logOriginalV2(in) }) }
	us = func(in input) string { return outcome(lastOf(&b2), func() { logOursV2(in) }) }
	return them, us
}

func TestV2WritesTheSame(t *testing.T) {
	them, us := pairV2()
	for seed := range seeds() {
		compare(t, fmt.Sprintf("seed %d", seed), newGenerator(seed).input(), them, us)
		if t.Failed() {
			return
		}
	}
}

func FuzzV2WritesTheSame(f *testing.F) {
	them, us := pairV2()
	addStrings(f)
	f.Fuzz(func(t *testing.T, seed uint64, event, key, value string) {
		in := withStrings(newGenerator(seed).input(), event, key, value)
		compare(t, "fuzz", in, them, us)
	})
}

// addStrings adds seeds to a fuzz target.
func addStrings(f *testing.F) {
	f.Add(uint64(1), "event", "key", "value")
	f.Add(uint64(2), "<&>", "\u2028", "\xff\x00\u009b")
	f.Add(uint64(3), "", "", `"\`)
}

// withStrings returns in with three strings replaced.
func withStrings(in input, event, key, value string) input {
	in.event, in.hasData = event, true
	in.data = each(in.data, func(m map[string]any) any { return nested(m) })
	in.data[key] = value
	return in
}

func logOriginalV2(in input) {
	logV2(original.Event, in, options(in, original.HTTP, maker{
		data:           func(m map[string]any) any { return original.Data(m) },
		auth:           identify(original.Auth, original.USER, original.SERVICE),
		errs:           func(errs []error) any { return original.FormatErrors(customised(errs, customOriginal)) },
		classification: classify(original.Classification),
	}))
}

func logOursV2(in input) {
	logV2(ours.Event, in, options(in, ours.HTTP, maker{
		data:           func(m map[string]any) any { return ours.Data(m) },
		auth:           identify(ours.Auth, ours.USER, ours.SERVICE),
		errs:           func(errs []error) any { return ours.FormatErrors(customised(errs, customOurs)) },
		classification: classify(ours.Classification),
	}))
}

// customised returns errs with each dataErr replaced by a CustomError of one of the packages.
func customised(errs []error, custom func(*dataErr) error) []error {
	made := make([]error, len(errs))
	for i, err := range errs {
		made[i] = err
		if d, ok := err.(*dataErr); ok {
			made[i] = custom(d)
		}
	}
	return made
}

func customOriginal(d *dataErr) error {
	return &original.CustomError{Message: d.Error(), Data: map[string]any{"code": d.Code}}
}

func customOurs(d *dataErr) error {
	return &ours.CustomError{Message: d.Error(), Data: map[string]any{"code": d.Code}}
}
