package onslog_test

import (
	"context"
	"net/http"
	"time"
)

// A maker makes the options of one package. Their type has no exported name, so they are passed as any and converted
// where the compiler can infer the type.
type maker struct {
	data           func(map[string]any) any
	auth           func(user bool, identity string) any
	errs           func([]error) any
	classification func(string) any
}

// options returns the options of in, with the type that http returns.
func options[O any](in input, http func(*http.Request, int, int64, *time.Time, *time.Time) O, m maker) []O {
	var list []O
	add := func(v any) {
		if v != nil {
			list = append(list, v.(O))
		}
	}
	if in.hasErrs {
		add(m.errs(in.errs))
	}
	if in.hasData {
		data := func(v map[string]any) any { return m.data(v) }
		if in.data == nil {
			add(m.data(nil))
		} else {
			add(m.data(each(in.data, data)))
		}
	}
	if in.http != nil {
		add(http(in.http.req, in.http.status, in.http.length, in.http.start, in.http.end))
	}
	if in.auth != nil {
		add(m.auth(in.auth.user, in.auth.identity))
	}
	if in.classification != "" {
		add(m.classification(in.classification))
	}
	return list
}

// classify adapts a function whose parameter has an unexported string type.
func classify[C ~string, O any](f func(C) O) func(string) any {
	return func(s string) any { return f(C(s)) }
}

// identify calls Auth with one of its two types of identities.
func identify[I ~string, O any](f func(I, string) O, user, service I) func(bool, string) any {
	return func(isUser bool, identity string) any {
		if isUser {
			return f(user, identity)
		}
		return f(service, identity)
	}
}

// logV2 calls Event.
func logV2[S ~int, O any](event func(context.Context, string, S, ...O), in input, opts []O) {
	event(in.ctx, in.event, S(in.severity), opts...)
}
