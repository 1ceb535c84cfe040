package router

import (
	"net/http"
	"reflect"
	"testing"
	"unsafe"
)

// TestRequestFieldsOfThisGoAreFound fails if a new Go stores path values differently. A Router
// then still works, but slower, until requestfields.go supports the new fields.
func TestRequestFieldsOfThisGoAreFound(t *testing.T) {
	if _, err := findRequestFields(); err != nil {
		t.Error(err)
	}
}

// TestRequestFieldsOfAnotherGoAreRefused calls fieldsOf with requests of other shapes.
func TestRequestFieldsOfAnotherGoAreRefused(t *testing.T) {
	for _, request := range []any{
		struct{}{},
		struct{ matches []string }{},
		struct{ pat *pattern }{},
		struct {
			pat     *pattern // of this package
			matches []string
		}{},
		struct {
			pat     string
			matches []string
		}{},
		struct {
			first int
			http.Request
		}{},
	} {
		if f, err := fieldsOf(reflect.TypeOf(request)); err == nil {
			t.Errorf("%T: the fields are found at %v", request, f)
		}
	}
}

// TestRequestFieldsOfOtherUseAreRefused uses other fields of the same types.
func TestRequestFieldsOfOtherUseAreRefused(t *testing.T) {
	known, err := findRequestFields()
	if err != nil {
		t.Fatal(err)
	}
	var req http.Request
	for name, f := range map[string]requestFields{
		"Response":         {unsafe.Offsetof(req.Response), known.values},
		"TransferEncoding": {known.pattern, unsafe.Offsetof(req.TransferEncoding)},
	} {
		if err := f.try(); err == nil {
			t.Errorf("%s is taken for a field of path values", name)
		}
	}
}
