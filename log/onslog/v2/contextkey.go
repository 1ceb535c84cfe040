package log

import (
	"context"
	"net/http"
	"reflect"
	"sync"
	"sync/atomic"
)

// A contextKey finds a value that another package stores in contexts under a key
// of its own type, without importing that package.
//
// Two keys are equal only if they have the same type, and this package cannot
// name the other package's type. But a context with the value holds the key, and
// so its type. Value therefore searches contexts by reflection until it finds
// the key once. From then on it calls ctx.Value with that key.
//
// The search follows every field that is a context or an *http.Request, exported
// or not. It cannot search a context that keeps its parent elsewhere, such as in
// a closure. The value of such a context is found only once the key is known
// from another context.
type contextKey struct {
	Path string // of the package that declares the type
	Type string // the type's name; its kind is string
	Key  string

	known atomic.Pointer[any]
}

// Value returns the value for the key, or nil if there is none.
func (k *contextKey) Value(ctx context.Context) any {
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

	// valueType is the type of the contexts that context.WithValue returns;
	// keyField is the index of its key. If a Go release changes them, no key
	// is found, and a test fails.
	valueType = reflect.TypeOf(context.WithValue(context.Background(), contextType, nil)).Elem()
	keyField  = fieldIndex(valueType, "key")
)

// mostContexts limits a search, because contexts may form a cycle.
const mostContexts = 1000

// find returns the key if ctx or one of its ancestors has it. It looks at no
// more than *most contexts, and decrements *most for each.
func (k *contextKey) find(ctx reflect.Value, most *int) *any {
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
		last := len(fields) - 1 // usually the only one
		for _, i := range fields[:last] {
			if key := k.find(ctx.Field(i), most); key != nil {
				return key
			}
		}
		ctx = ctx.Field(fields[last])
	}
	return nil
}

// as returns a copy of key if it has the type and the text of k, otherwise nil.
func (k *contextKey) as(key reflect.Value) *any {
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

// fields caches the results of contextFields.
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

// holdsContext reports whether a value of type t is a context, is embedded in one
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
