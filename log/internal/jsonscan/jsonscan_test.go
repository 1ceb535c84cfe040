package jsonscan_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/weirhq/weir/log/internal/jsonscan"
)

func TestScannerReadsMembersAndElements(t *testing.T) {
	s := jsonscan.Scan(` { "a" : [ 1 , "]" ] , "b\"" : { } } `)
	var got []string
	s.Enter()
	for {
		key, ok := s.Member()
		if !ok {
			break
		}
		got = append(got, key, s.Value())
	}
	want := []string{`"a"`, `[ 1 , "]" ]`, `"b\""`, `{ }`}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q want %q", got, want)
	}
	if b := s.Peek(); b != 0 {
		t.Errorf("behind the object: got %q want the end", b)
	}
}

func FuzzScanner(f *testing.F) {
	for _, seed := range []string{`{"a":[1,{"b":-0.5e+3}],"c":"\u00fF\/\ud83d\ude00\ud83d"}`, "\"\xff\xe2\x80\"",
		` [ 01 ] `, `{"`, `"\`, `"\u1`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s := jsonscan.Scan(text) // must neither panic nor loop on invalid JSON either
		built := build(&s, 0)
		if !json.Valid(text) || strings.Count(string(text), "[")+strings.Count(string(text), "{") > maxDepth {
			return
		}
		var want any
		dec := json.NewDecoder(strings.NewReader(string(text)))
		dec.UseNumber()
		if err := dec.Decode(&want); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(built, want) {
			t.Errorf("%q: got %#v want %#v", text, built, want)
		}
	})
}

// maxDepth limits the recursion of build.
const maxDepth = 1000

// build decodes a value like encoding/json.
func build(s *jsonscan.Scanner[[]byte], depth int) any {
	if depth > maxDepth {
		return nil
	}
	switch s.Peek() {
	case '{':
		m := map[string]any{}
		s.Enter()
		for {
			key, ok := s.Member()
			if !ok {
				return m
			}
			m[string(jsonscan.AppendUnquoted(nil, key))] = build(s, depth+1)
		}
	case '[':
		list := []any{}
		for s.Enter(); s.Element(); {
			list = append(list, build(s, depth+1))
		}
		return list
	case '"':
		quoted := s.Value()
		text := string(jsonscan.AppendUnquoted(nil, quoted))
		if jsonscan.IsPlain(quoted) && text != string(quoted[1:len(quoted)-1]) {
			return "a text that is not plain"
		}
		return text
	case 't':
		s.Value()
		return true
	case 'f':
		s.Value()
		return false
	case 'n':
		s.Value()
		return nil
	}
	return json.Number(s.Value())
}
