package record_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/log/record"
)

// A vector is an event in each form.
type vector struct {
	Name   string `json:"name"`
	JSON   string `json:"json"`
	JSONv1 string `json:"json_v1"`
	LTSV   string `json:"ltsv"`
	Human  string `json:"human"`
}

// vectors returns the vectors of all files, by file and name.
func vectors(t *testing.T) map[string]vector {
	t.Helper()
	files, err := filepath.Glob("../../testdata/vectors/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatalf("no vectors: %v", err)
	}
	all := map[string]vector{}
	for _, name := range files {
		file, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		lines := bufio.NewScanner(file)
		for lines.Buffer(nil, 1<<24); lines.Scan(); {
			var v vector
			if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			all[filepath.Base(name)+": "+v.Name] = v
		}
		if err := lines.Err(); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// All forms are written from each parsed form.
func TestEachFormOfVectorsIsParsed(t *testing.T) {
	for name, v := range vectors(t) {
		if strings.Contains(v.JSON, `\ufffd`) {
			// JSON does not distinguish U+FFFD from a byte that is not UTF-8.
			r := parse(t, v.JSON)
			check(t, name, string(r.AppendJSON(nil)), strings.ReplaceAll(v.JSON, `\ufffd`, "\uFFFD"))
			continue
		}
		r := parse(t, v.JSON)
		checkReader(t, []byte(v.JSON), &r, nil)
		if strings.Contains(v.JSON, "{}") && len(r.Truncated) > 0 || strings.Contains(v.JSON, `"errors":[]`) {
			continue // so much was cut that the message is missing
		}
		check(t, name+": JSON", string(r.AppendJSON(nil)), v.JSON)
		check(t, name+": for people", string(r.AppendHuman(nil, record.HumanOptions{Location: time.UTC})), v.Human)
		again := parse(t, v.LTSV)
		check(t, name+": LTSV from LTSV", string(again.AppendLTSV(nil)), strings.Replace(v.LTSV, "\treqtime:0.000000", "", 1))
		if len(r.Truncated)+len(again.Truncated) > 0 || strings.Contains(v.JSONv1, `"truncated":[`) {
			continue // each form cuts other values to fit
		}
		check(t, name+": LTSV", string(r.AppendLTSV(nil)), v.LTSV)
		r = parse(t, v.JSONv1)
		check(t, name+": JSON from v1", string(r.AppendJSON(nil)), v.JSON)
	}
}

func parse(t *testing.T, line string) record.Record {
	t.Helper()
	r, err := record.Parse([]byte(line))
	if err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	return r
}

func check(t *testing.T, name, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\ngot  %q\nwant %q", name, got, want)
	}
}
