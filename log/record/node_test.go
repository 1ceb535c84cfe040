package record_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/weirhq/weir/log/record"
)

// TestErrorOfNodesHasThePosition checks the position in the error of a line that is not a JSON object.
func TestErrorOfNodesHasThePosition(t *testing.T) {
	t.Parallel()
	var r record.Reader
	for _, c := range []struct {
		line string
		at   int // -1 if the line is an object
	}{
		{`{}`, -1},
		{` { } `, -1},
		{`{"a":[1,{"b":-0.5e+3}],"c":"\u00fF\/","d":true,"e":false,"f":null,"g":0}`, -1},
		{"{\"a\":\"a\xffb\"}", -1},
		{``, 0},
		{`{"a":1,}`, 7},
		{`{"a"1}`, 4},
		{`{"a":[1 2]}`, 8},
		{`{"a":[1,]}`, 8},
		{`{,}`, 1},
		{`{"a":01}`, 6},
		{`{"a":1.}`, 7},
		{`{"a":1e}`, 7},
		{`{"a":-}`, 6},
		{`{"a":nul}`, 8},
		{`{"a":nulls}`, 9},
		{`{"a`, 3},
		{`{"a":"\x"}`, 7},
		{`{"a":"\u00g0"}`, 10},
		{"{\"a\tb\":1}", 3},
		{`{} x`, 3},
		{`{"a":1]`, 6},
		{`[1]`, 0},
		{`5`, 0},
	} {
		want := ""
		if c.at >= 0 {
			want = fmt.Sprintf("no JSON from byte %d on", c.at)
		}
		got := ""
		if _, err := r.Nodes([]byte(c.line)); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: got %q want %q", c.line, got, want)
		}
	}
}

func TestDepthOfNodesIsLimited(t *testing.T) {
	t.Parallel()
	for depth, want := range map[int]bool{999: true, 1000: false} {
		line := `{"a":` + strings.Repeat("[", depth) + strings.Repeat("]", depth) + "}"
		if _, err := new(record.Reader).Nodes([]byte(line)); (err == nil) != want {
			t.Errorf("depth %d: got %v", depth+1, err)
		}
	}
}

// FuzzNodes compares the Nodes of an object with encoding/json.
func FuzzNodes(f *testing.F) {
	for _, seed := range []string{`{"a":[1,{"b":-0.5e+3}],"c":"\u00fF\/\ud83d\ude00\ud83d","":{}}`, "{\"\xff\xe2\x80\":\"\xff\"}",
		` { "a" : [ 01 ] } `, `{"`, `{"\`, `{"\u1`, `{"a":1,"a":2}`, `{"0123456\"":"01234567é","k":"é0123456789"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		var want map[string]any
		dec := json.NewDecoder(strings.NewReader(string(line)))
		dec.UseNumber()
		valid := json.Valid(line) && dec.Decode(&want) == nil && want != nil
		nodes, err := new(record.Reader).Nodes(line)
		if deep := strings.Count(string(line), "[")+strings.Count(string(line), "{") > 1000; deep {
			return
		}
		if valid != (err == nil) {
			t.Fatalf("%q: got %v want %v", line, err, valid)
		}
		if !valid {
			return
		}
		if got := object(nodes); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %#v want %#v", line, got, want)
		}
	})
}

// object returns the members of an object in the types of encoding/json.
func object(nodes []record.Node) map[string]any {
	m := map[string]any{}
	for i := 0; i < len(nodes); i += 1 + nodes[i].Inner {
		m[nodes[i].Key] = built(nodes[i : i+1+nodes[i].Inner])
	}
	return m
}

func built(nodes []record.Node) any {
	if text, ok := nodes[0].Text(); ok {
		return text
	}
	switch v := nodes[0].Value; v[0] {
	case '{':
		return object(nodes[1:])
	case '[':
		list := []any{}
		for i := 1; i < len(nodes); i += 1 + nodes[i].Inner {
			list = append(list, built(nodes[i:i+1+nodes[i].Inner]))
		}
		return list
	case 't', 'f':
		return v == "true"
	case 'n':
		return nil
	default:
		return json.Number(v)
	}
}
