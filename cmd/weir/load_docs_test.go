package main

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"

	"github.com/weirhq/weir/cmd/weir/internal/loadcmd"
	"github.com/weirhq/weir/load"
	"github.com/weirhq/weir/load/target"
)

// TestLoadDocsDescribeEachFlagAndKey checks that docs/load.md describes every flag of weir load and
// every key of its document.
func TestLoadDocsDescribeEachFlagAndKey(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/load.md")
	if err != nil {
		t.Fatal(err)
	}
	docs := string(text)
	keys := map[string]bool{}
	jsonKeys(reflect.TypeFor[load.Result](), keys)
	if len(keys) < 60 {
		t.Errorf("a result has %d keys only: this test no longer finds them", len(keys))
	}
	for key := range keys {
		if !strings.Contains(docs, "`"+key+"`") {
			t.Errorf("docs/load.md does not say what the key `%s` is", key)
		}
	}
	for _, flag := range loadFlags(t) {
		name := "`--" + flag.Name
		if !strings.Contains(docs, name+"`") && !strings.Contains(docs, name+" ") {
			t.Errorf("docs/load.md does not say what --%s does", flag.Name)
		}
	}
}

// loadFlags returns the flags of weir load URL.
func loadFlags(t *testing.T) []*kong.Flag {
	t.Helper()
	parser, err := kong.New(new(loadcmd.Command))
	if err != nil {
		t.Fatal(err)
	}
	return parser.Model.DefaultCmd.Flags
}

// TestLoadDocsRequestsAreValid parses the request files in docs/load.md.
func TestLoadDocsRequestsAreValid(t *testing.T) {
	text, err := os.ReadFile("../../docs/load.md")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if err := os.WriteFile("new-user.json", []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	var urls []string
	for _, block := range fenced(string(text), "requests") {
		list, err := target.Read(strings.NewReader(block), "docs/load.md", nil)
		if err != nil {
			t.Fatalf("%v in\n%s", err, block)
		}
		for _, target := range list.Targets {
			urls = append(urls, target.Method+" "+target.URL)
		}
	}
	want := []string{
		"GET http://127.0.0.1:8080/users/{{rand 1 1000}}", "POST http://127.0.0.1:8080/users",
		" http://127.0.0.1:8080/a-url-alone-is-a-GET", "POST http://127.0.0.1:8080/users",
	}
	if diff := cmp.Diff(want, urls); diff != "" {
		t.Errorf("the requests of docs/load.md (-want +got):\n%s", diff)
	}
}

// jsonKeys collects the JSON keys of a type, at any depth.
func jsonKeys(t reflect.Type, into map[string]bool) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		jsonKeys(t.Elem(), into)
	case reflect.Struct:
		for i := range t.NumField() {
			key, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
			if key == "" || key == "-" {
				continue
			}
			into[key] = true
			if of := t.Field(i).Type; of != reflect.PointerTo(t) {
				jsonKeys(of, into)
			}
		}
	}
}
