package wire

import (
	"context"
	"reflect"
	"sync"
	"sync/atomic"
)

// A ContextKey finds a value that another package keeps in contexts under a
// key of a type of its own, without importing that package.
//
// A key is only equal to one of the same type, which cannot be named from
// here. But once a context that holds the value has come by, the type can be
// had from the key that it holds. So the first context that has one is looked
// through by reflection, and from then on Value is ctx.Value.
type ContextKey struct {
	Path string // of the package that has the type
	Type string // the type's name; its kind is string
	Key  string

	known atomic.Pointer[any]
}

// Value returns the value under the key, nil when there is none.
func (k *ContextKey) Value(ctx context.Context) any {
	key := k.known.Load()
	if key == nil {
		if key = k.find(reflect.ValueOf(ctx)); key == nil {
			return nil
		}
		k.known.Store(key)
	}
	return ctx.Value(*key)
}

var (
	contextType = reflect.TypeFor[context.Context]()

	// valueType is what context.WithValue makes, and keyField where it has
	// its key; should they change, no key is found, and a test fails.
	valueType = reflect.TypeOf(context.WithValue(context.Background(), contextType, nil)).Elem()
	keyField  = fieldIndex(valueType, "key")
)

// find returns the key if ctx or one that it was made from was made with it.
func (k *ContextKey) find(ctx reflect.Value) *any {
	for {
		for ctx.Kind() == reflect.Interface || ctx.Kind() == reflect.Pointer {
			ctx = ctx.Elem()
		}
		if ctx.Kind() != reflect.Struct {
			return nil
		}
		if ctx.Type() == valueType && keyField != nil {
			if key := k.as(ctx.FieldByIndex(keyField).Elem()); key != nil {
				return key
			}
		}
		parent := parentIndex(ctx.Type())
		if parent == nil {
			return nil
		}
		var err error
		if ctx, err = ctx.FieldByIndexErr(parent); err != nil {
			return nil
		}
	}
}

// as returns a copy of key if it is the one that is looked for.
func (k *ContextKey) as(key reflect.Value) *any {
	if key.Kind() != reflect.String || key.String() != k.Key {
		return nil
	}
	t := key.Type()
	if t.Name() != k.Type || t.PkgPath() != k.Path {
		return nil
	}
	found := reflect.New(t).Elem()
	found.SetString(k.Key)
	v := found.Interface()
	return &v
}

// parents holds for each type of context the index of its parent.
var parents sync.Map // reflect.Type → []int

// parentIndex returns where a context of type t holds the one that it was made
// from: it embeds it, or is the one of the standard library that does not. It is nil
// when there is none.
func parentIndex(t reflect.Type) []int {
	if known, ok := parents.Load(t); ok {
		return known.([]int)
	}
	index := fieldIndex(t, "Context")
	if index == nil && t.PkgPath() == contextType.PkgPath() {
		index = fieldIndex(t, "c") // context.WithoutCancel
	}
	if index == nil || t.FieldByIndex(index).Type != contextType {
		index = nil
	}
	parents.Store(t, index)
	return index
}

func fieldIndex(t reflect.Type, name string) []int {
	f, ok := t.FieldByName(name)
	if !ok {
		return nil
	}
	return f.Index
}
