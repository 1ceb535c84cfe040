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

// A requestFields says where in an http.Request the two fields stand that
// PathValue reads: a pattern, of which it takes the names, and a value for
// each name. ServeMux sets them and exports no way to do so; this file does it
// past the compiler. Nobody promises that they stay what they are in Go 1.26,
// so nothing is taken for granted: without them there is [pathValues.setPlainly].
type requestFields struct {
	pattern uintptr // the offset of a *http.pattern
	values  uintptr // the offset of a []string
}

// A muxPattern is a *http.pattern, which only a ServeMux makes.
type muxPattern unsafe.Pointer

// read returns the pattern that a ServeMux has left in req, if any.
func (f requestFields) read(req *http.Request) muxPattern {
	return *(*muxPattern)(unsafe.Add(unsafe.Pointer(req), f.pattern))
}

// write makes PathValue answer with the names of a pattern that read returned
// and with as many values, which are req's from now on.
func (f requestFields) write(req *http.Request, pattern muxPattern, values []string) {
	*(*muxPattern)(unsafe.Add(unsafe.Pointer(req), f.pattern)) = pattern
	*(*[]string)(unsafe.Add(unsafe.Pointer(req), f.values)) = values
}

// findRequestFields returns the fields, if the request has them and they do
// what they did in Go 1.26.
var findRequestFields = sync.OnceValues(func() (requestFields, error) {
	f, err := fieldsOf(reflect.TypeFor[http.Request]())
	if err == nil {
		err = f.try()
	}
	return f, err
})

// fieldsOf looks the fields up by their names and the types they must have
// before anybody reads or writes there.
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

// ownField finds no field of an embedded struct, whose offset counts from
// that one's beginning.
func ownField(t reflect.Type, name string) (reflect.StructField, bool) {
	f, found := t.FieldByName(name)
	return f, found && len(f.Index) == 1
}

// try has a ServeMux set the fields of one request, writes those of another,
// and asks that one.
func (f requestFields) try() (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("path values that were written are not to be read: %v", p)
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
		return fmt.Errorf("path values that were written are read as %s, not as %s", got, want)
	}
	return nil
}

// muxFor returns a ServeMux that gives a request for pathFor(names) values of
// these names, and answers nothing.
func muxFor(names []string) *http.ServeMux {
	mux := new(http.ServeMux)
	silence := func(http.ResponseWriter, *http.Request) {}
	mux.HandleFunc("/", silence)
	if len(names) > 0 {
		mux.HandleFunc(patternFor(names), silence)
	}
	return mux
}

// patternFor returns a pattern that has these names and nothing else.
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
