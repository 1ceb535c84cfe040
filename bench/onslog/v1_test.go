package onslog_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"testing"
	_ "unsafe" // for go:linkname

	dprequestV1 "github.com/ONSdigital/dp-net/request"
	dprequest "github.com/ONSdigital/dp-net/v3/request"
	original "github.com/ONSdigital/log.go/log"
	ours "github.com/weirhq/weir/log/onslog/v1"
)

// originalV1 is the output of the original. No exported function changes it.
//
//go:linkname originalV1 github.com/ONSdigital/log.go/log.destination
var originalV1 io.Writer

func pairV1() (them, us func(input) string) {
	var b1, b2 bytes.Buffer
	originalV1 = &b1
	ours.SetDestination(&b2, nil)
	original.Namespace, ours.Namespace = "name<space>", "name<space>"
	them = func(in input) string { return outcome(lastOf(&b1), func() { logOriginalV1(in) }) }
	us = func(in input) string { return outcome(lastOf(&b2), func() { logOursV1(in) }) }
	return them, us
}

func TestV1WritesTheSame(t *testing.T) {
	them, us := pairV1()
	for seed := range seeds() {
		compare(t, fmt.Sprintf("seed %d", seed), v1Input(seed), them, us)
		if t.Failed() {
			return
		}
	}
}

func FuzzV1WritesTheSame(f *testing.F) {
	them, us := pairV1()
	addStrings(f)
	f.Fuzz(func(t *testing.T, seed uint64, event, key, value string) {
		in := withStrings(v1Input(seed), event, key, value)
		compare(t, "fuzz", in, them, us)
	})
}

// v1Input returns an event. If it has a request id, the id is under the dp-net key that shape v1 reads.
func v1Input(seed uint64) input {
	g := newGenerator(seed)
	in := g.input()
	in.ctx = g.contextV1()
	return in
}

func logOriginalV1(in input) {
	original.Event(in.ctx, in.event, options(in, original.HTTP, maker{
		data:     func(m map[string]any) any { return original.Data(m) },
		auth:     identify(original.Auth, original.USER, original.SERVICE),
		errs:     lastError(original.Error),
		severity: []any{original.FATAL, original.ERROR, original.WARN, original.INFO},
	})...)
}

func logOursV1(in input) {
	ours.Event(in.ctx, in.event, options(in, ours.HTTP, maker{
		data:     func(m map[string]any) any { return ours.Data(m) },
		auth:     identify(ours.Auth, ours.USER, ours.SERVICE),
		errs:     lastError(ours.Error),
		severity: []any{ours.FATAL, ours.ERROR, ours.WARN, ours.INFO},
	})...)
}

// lastError returns an option for the last of several errors, or nil if there are none.
func lastError[O any](f func(error) O) func([]error) any {
	return func(errs []error) any {
		if len(errs) == 0 {
			return nil
		}
		return f(errs[len(errs)-1])
	}
}

// contextV1 is like context, with the keys of shape v1.
func (g generator) contextV1() context.Context {
	ctx := context.Background()
	switch g.IntN(6) {
	case 0:
		return nil
	case 1:
		ctx = dprequestV1.WithRequestId(ctx, g.text())
	case 2:
		ctx = context.WithValue(ctx, dprequestV1.RequestIdKey, g.scalar())
	case 3:
		ctx = context.WithValue(ctx, stringKey, "not a key of v1")
	case 4:
		ctx = dprequest.WithRequestId(ctx, "nor is that of another version")
	}
	return ctx
}
