package wire_test

import (
	"context"
	"testing"
	"time"

	"github.com/weirhq/weir/log/onslog/internal/wire"
)

// foreignKey stands for the key type of a package that wire does not import.
type foreignKey string

type otherKey string

func newKey() *wire.ContextKey {
	return &wire.ContextKey{
		Path: "github.com/weirhq/weir/log/onslog/internal/wire_test",
		Type: "foreignKey",
		Key:  "request-id",
	}
}

// Contexts that are not the standard library's.
type (
	embeds    struct{ context.Context }
	embedsPtr struct {
		name string
		context.Context
	}
	hides struct{ parent context.Context } // its parent cannot be seen
)

func (h hides) Deadline() (time.Time, bool) { return h.parent.Deadline() }
func (h hides) Done() <-chan struct{}       { return h.parent.Done() }
func (h hides) Err() error                  { return h.parent.Err() }
func (h hides) Value(key any) any           { return h.parent.Value(key) }

func TestContextKeyFindsValueThroughContexts(t *testing.T) {
	holder := context.WithValue(context.Background(), foreignKey("request-id"), "id")
	cancelled, cancel := context.WithCancel(holder)
	defer cancel()
	timed, cancel := context.WithTimeout(holder, time.Hour)
	defer cancel()
	caused, cancelCause := context.WithCancelCause(holder)
	defer cancelCause(nil)
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
		{"hidden, before one was seen", hides{holder}, nil},
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
	if got := key.Value(hides{holder}); got != nil {
		t.Fatalf("Value = %v before a context showed the key, want nil", got)
	}
	key.Value(holder)
	if got := key.Value(hides{holder}); got != "id" {
		t.Errorf("Value = %v after one did, want id", got)
	}
}

func TestAllocOfContextKey(t *testing.T) {
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
