package router

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"sync"
	"unsafe"
)

// A requestFields has the offsets of the two fields of http.Request that PathValue
// reads: a pattern with the names, and a value for each name. Only ServeMux sets them,
// so this file uses unsafe. Later versions of Go may change the fields; they are
// checked, and without them [pathValues.setByMux] is used.
type requestFields struct {
	pattern uintptr // the offset of a *http.pattern
	values  uintptr // the offset of a []string
}

// A muxPattern is a *http.pattern, which only a ServeMux can make.
type muxPattern unsafe.Pointer

// read returns the pattern that a ServeMux has set in req, nil if none.
func (f requestFields) read(req *http.Request) muxPattern {
	return *(*muxPattern)(unsafe.Add(unsafe.Pointer(req), f.pattern))
}

// write sets a pattern returned by read and as many values, which belong to req from
// now on.
func (f requestFields) write(req *http.Request, pattern muxPattern, values []string) {
	*(*muxPattern)(unsafe.Add(unsafe.Pointer(req), f.pattern)) = pattern
	*(*[]string)(unsafe.Add(unsafe.Pointer(req), f.values)) = values
}

// findRequestFields returns the fields if the request has them and they behave as in Go
// 1.26.
var findRequestFields = sync.OnceValues(func() (requestFields, error) {
	f, err := fieldsOf(reflect.TypeFor[http.Request]())
	if err == nil {
		err = f.try()
	}
	return f, err
})

// fieldsOf finds the fields by their names and checks their types before anything reads
// or writes them.
func fieldsOf(request reflect.Type) (requestFields, error) {
	pattern, found := ownField(request, "pat")
	if !found || pattern.Type.Kind() != reflect.Pointer || pattern.Type.String() != "*http.pattern" {
		return requestFields{}, fmt.Errorf("%v has no field pat of type *http.pattern", request)
	}
	values, found := ownField(request, "matches")
	if !found || values.Type != reflect.TypeFor[[]string]() {
		return requestFields{}, fmt.Errorf("%v has no field matches of type []string", request)
	}
	return requestFields{pattern.Offset, values.Offset}, nil
}

// ownField does not return fields of embedded structs, whose offsets are relative to
// that struct.
func ownField(t reflect.Type, name string) (reflect.StructField, bool) {
	f, found := t.FieldByName(name)
	return f, found && len(f.Index) == 1
}

// try lets a ServeMux set the fields of one request, writes those of another, and
// checks the values that it returns.
func (f requestFields) try() (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("path values cannot be read back: %v", p)
		}
	}()
	names := []string{"first", "second"}
	served := http.Request{URL: &url.URL{Path: pathFor(names)}}
	muxFor(names).ServeHTTP(nil, &served)
	pattern := f.read(&served)
	if pattern == nil {
		return errors.New("http.ServeMux sets no path values") // GODEBUG=httpmuxgo121=1
	}
	var written http.Request
	values := []string{"1", "2"}
	f.write(&written, pattern, values)
	written.SetPathValue("second", "3")
	written.SetPathValue("third", "4")
	got := written.PathValue("first") + written.PathValue("second") + written.PathValue("third") + values[1]
	if want := "1343"; got != want {
		return fmt.Errorf("path values are read back as %s, not %s", got, want)
	}
	return nil
}

// muxFor returns a ServeMux that sets values with these names in a request for
// pathFor(names), and writes no response.
func muxFor(names []string) *http.ServeMux {
	mux := new(http.ServeMux)
	silence := func(http.ResponseWriter, *http.Request) {}
	mux.HandleFunc("/", silence)
	if len(names) > 0 {
		mux.HandleFunc(patternFor(names), silence)
	}
	return mux
}

// patternFor returns a pattern with exactly these names.
func patternFor(names []string) string {
	if len(names) == 0 {
		return "/"
	}
	return "/{" + strings.Join(names, "}/{") + "}"
}

// pathFor returns a path that matches patternFor(names).
func pathFor(names []string) string {
	return "/" + strings.Join(names, "/")
}
