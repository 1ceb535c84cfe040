package wire

import (
	"context"
	"net/http"
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
//
// The search follows every field that is a context or an *http.Request, exported
// or not. A context that keeps the one it was made from in another way, such as
// in a closure, is not looked through: its value is found after that of another
// context.
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
		most := mostContexts
		if key = k.find(reflect.ValueOf(ctx), &most); key == nil {
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

// mostContexts bounds a search: contexts may lead back to each other.
const mostContexts = 1000

// find returns the key if ctx or a context that it was made from was made with
// it. It looks at most at so many more.
func (k *ContextKey) find(ctx reflect.Value, most *int) *any {
	for ; *most > 0; *most-- {
		for ctx.Kind() == reflect.Interface || ctx.Kind() == reflect.Pointer {
			ctx = ctx.Elem()
		}
		if ctx.Kind() != reflect.Struct {
			return nil
		}
		t := ctx.Type()
		if t == valueType && keyField != nil {
			if key := k.as(ctx.FieldByIndex(keyField).Elem()); key != nil {
				return key
			}
		}
		fields := contextFields(t)
		if len(fields) == 0 {
			return nil
		}
		last := len(fields) - 1 // mostly the only one
		for _, i := range fields[:last] {
			if key := k.find(ctx.Field(i), most); key != nil {
				return key
			}
		}
		ctx = ctx.Field(fields[last])
	}
	return nil
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

// fields holds for each type of context the fields that hold contexts.
var fields sync.Map // reflect.Type → []int

// contextFields returns the indexes of the fields of t that hold contexts.
func contextFields(t reflect.Type) []int {
	if known, ok := fields.Load(t); ok {
		return known.([]int)
	}
	var found []int
	for i := range t.NumField() {
		if holdsContext(t.Field(i).Type) {
			found = append(found, i)
		}
	}
	fields.Store(t, found)
	return found
}

var requestType = reflect.TypeFor[*http.Request]()

// holdsContext reports whether a value of type t is a context, is a part of one
// as in struct{ cancelCtx }, or is a request.
func holdsContext(t reflect.Type) bool {
	return t == requestType || t.Implements(contextType) || reflect.PointerTo(t).Implements(contextType)
}

func fieldIndex(t reflect.Type, name string) []int {
	f, ok := t.FieldByName(name)
	if !ok {
		return nil
	}
	return f.Index
}
