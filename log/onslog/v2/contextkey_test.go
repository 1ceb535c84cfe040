package log

import (
	"context"
	"net/http"
	"testing"
	"time"
)

// foreignKey represents the key type of a package that this one does not import.
type foreignKey string

type otherKey string

func newKey() *contextKey {
	return &contextKey{
		Path: "github.com/weirhq/weir/log/onslog/v2",
		Type: "foreignKey",
		Key:  "request-id",
	}
}

// Contexts of types other than the standard library's.
type (
	embeds    struct{ context.Context }
	embedsPtr struct {
		name string
		context.Context
	}
	names struct {
		background                    // for Deadline, Done and Err
		first, second context.Context // Value looks in both
	}
	serves struct { // like the context of gin
		background
		request *http.Request
	}
	closes struct { // its parent is in a closure
		background
		value func(key any) any
	}
	cycle struct {
		background
		next *cycle
	}
)

// background is a context that is a struct without fields.
type background struct{}

func (background) Deadline() (time.Time, bool) { return time.Time{}, false }
func (background) Done() <-chan struct{}       { return nil }
func (background) Err() error                  { return nil }
func (background) Value(any) any               { return nil }

func (n names) Value(key any) any {
	if v := n.first.Value(key); v != nil {
		return v
	}
	return n.second.Value(key)
}

func (s *serves) Value(key any) any { return s.request.Context().Value(key) }
func (c closes) Value(key any) any  { return c.value(key) }

func TestContextKeyFindsValueThroughContexts(t *testing.T) {
	holder := context.WithValue(context.Background(), foreignKey("request-id"), "id")
	cancelled, cancel := context.WithCancel(holder)
	defer cancel()
	timed, cancel := context.WithTimeout(holder, time.Hour)
	defer cancel()
	caused, cancelCause := context.WithCancelCause(holder)
	defer cancelCause(nil)
	request, err := http.NewRequestWithContext(holder, "GET", "/", nil)
	if err != nil {
		t.Fatal(err)
	}
	loop := &cycle{}
	loop.next = loop
	for _, c := range []struct {
		name string
		ctx  context.Context
		want any
	}{
		{"itself", holder, "id"},
		{"WithValue", context.WithValue(holder, otherKey("k"), "other"), "id"},
		{"WithCancel", cancelled, "id"},
		{"WithTimeout", timed, "id"},
		{"WithCancelCause", caused, "id"},
		{"WithoutCancel", context.WithoutCancel(holder), "id"},
		{"embedded", embeds{holder}, "id"},
		{"embedded behind a pointer", &embedsPtr{"name", cancelled}, "id"},
		{"embedded by nothing", embeds{}, nil},
		{"nil pointer", (*embedsPtr)(nil), nil},
		{"empty value", context.WithValue(context.Background(), foreignKey("request-id"), ""), ""},
		{"no string", context.WithValue(context.Background(), foreignKey("request-id"), 7), 7},
		{"another of the type's keys", context.WithValue(context.Background(), foreignKey("user"), "x"), nil},
		{"another type", context.WithValue(context.Background(), otherKey("request-id"), "x"), nil},
		{"a pointer key", context.WithValue(context.Background(), new(int), "x"), nil},
		{"none", context.Background(), nil},
		{"in a named field", names{first: holder, second: context.Background()}, "id"},
		{"in the second field", names{first: context.Background(), second: cancelled}, "id"},
		{"in a request", &serves{request: request}, "id"},
		{"in a request of a context", context.WithoutCancel(&serves{request: request}), "id"},
		{"a cycle", loop, nil},
		{"in a closure, before one was seen", closes{value: holder.Value}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := newKey().Value(c.ctx); got != c.want {
				t.Errorf("Value = %v, want %v", got, c.want)
			}
		})
	}
}

func TestContextKeyIsKnownOnceSeen(t *testing.T) {
	holder := context.WithValue(context.Background(), foreignKey("request-id"), "id")
	key := newKey()
	if got := key.Value(closes{value: holder.Value}); got != nil {
		t.Fatalf("Value = %v before a context showed the key, want nil", got)
	}
	key.Value(holder)
	if got := key.Value(closes{value: holder.Value}); got != "id" {
		t.Errorf("Value = %v after one did, want id", got)
	}
}

func TestContextKeyAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	none, cancel := context.WithCancel(context.WithValue(context.Background(), otherKey("k"), "v"))
	defer cancel()
	for name, ctx := range map[string]context.Context{
		"found": context.WithValue(none, foreignKey("request-id"), "id"),
		"none":  none,
	} {
		key := newKey()
		key.Value(ctx)
		if got := testing.AllocsPerRun(100, func() { key.Value(ctx) }); got != 0 {
			t.Errorf("%s: %v allocations, want 0", name, got)
		}
	}
}
