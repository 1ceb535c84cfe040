package jsonscan_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/weirhq/weir/log/internal/jsonscan"
)

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		text string
		at   int
		ok   bool
	}{
		{``, 0, false},
		{`{}`, 2, true},
		{` [ ] `, 5, true},
		{`{"a":[1,{"b":-0.5e+3}],"c":"\u00fF\/"}`, 38, true},
		{`{"a":1,}`, 7, false},
		{`{"a"1}`, 4, false},
		{`[1 2]`, 3, false},
		{`[1,]`, 3, false},
		{`{,}`, 1, false},
		{`01`, 1, false},
		{`1.`, 2, false},
		{`1e`, 2, false},
		{`-`, 1, false},
		{`nul`, 3, false},
		{`nulls`, 4, false},
		{`"a`, 2, false},
		{`"\x"`, 2, false},
		{`"\u00g0"`, 5, false},
		{"\"a\tb\"", 2, false},
		{"\"a\xffb\"", 5, true},
		{`{} x`, 3, false},
		{`{"a":1]`, 6, false},
	} {
		if at, ok := jsonscan.Check(c.text); at != c.at || ok != c.ok {
			t.Errorf("%q: got %d, %v want %d, %v", c.text, at, ok, c.at, c.ok)
		}
		if strings.HasPrefix(c.text, "{") {
			checkMembers(t, c.text)
		}
	}
}

func TestDepth(t *testing.T) {
	for depth, want := range map[int]bool{jsonscan.MaxDepth: true, jsonscan.MaxDepth + 1: false} {
		text := strings.Repeat("[", depth) + strings.Repeat("]", depth)
		if _, ok := jsonscan.Check(text); ok != want {
			t.Errorf("depth %d: got %v want %v", depth, ok, want)
		}
	}
}

func TestScanner(t *testing.T) {
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

func FuzzCheck(f *testing.F) {
	for _, seed := range []string{`{"a":[1,{"b":-0.5e+3}],"c":"\u00fF\/\ud83d\ude00\ud83d"}`, "\"\xff\xe2\x80\"",
		` [ 01 ] `, `{"`, `"\`, `"\u1`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		_, got := jsonscan.Check(string(text))
		if want := json.Valid(text); got != want &&
			strings.Count(string(text), "[")+strings.Count(string(text), "{") < jsonscan.MaxDepth {
			t.Fatalf("%q: got %v want %v", text, got, want)
		}
		if bytes.HasPrefix(text, []byte("{")) {
			checkMembers(t, string(text))
		}
		s := jsonscan.Scan(text) // must neither panic nor loop on invalid JSON either
		built := build(&s, 0)
		if !got {
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

// checkMembers compares Members with Check and with Scanner.
func checkMembers(t *testing.T, object string) {
	t.Helper()
	type member struct{ key, value string }
	var got, want []member
	m := jsonscan.MembersOf(object)
	for key, value, ok := m.Next(); ok; key, value, ok = m.Next() {
		got = append(got, member{key, value})
	}
	at, ok := m.End()
	if wantAt, wantOK := jsonscan.Check(object); at != wantAt || ok != wantOK {
		t.Fatalf("%q: members end with %d, %v want %d, %v", object, at, ok, wantAt, wantOK)
	}
	if !ok {
		return
	}
	s := jsonscan.Scan(object)
	s.Enter()
	for key, ok := s.Member(); ok; key, ok = s.Member() {
		want = append(want, member{key, s.Value()})
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q: members %q want %q", object, got, want)
	}
}

// build decodes a value like encoding/json.
func build(s *jsonscan.Scanner[[]byte], depth int) any {
	if depth > jsonscan.MaxDepth {
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
