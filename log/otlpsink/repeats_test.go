package otlpsink

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

// repeatSeeds are lines that repeat parts of each other, and end them in different ways.
var repeatSeeds = []string{
	requestLine(`"status_code":0,"method":"GET","host":"a","port":80,"path":"/x","query":"q=1","started_at":"t"`, ``),
	requestLine(`"status_code":0,"method":"GET","host":"a","port":8080,"path":"/x","query":"q=1","started_at":"t"`, ``),
	requestLine(`"status_code":0,"method":"GET","host":"a","path":"/x","query":"q=12","started_at":"t"`,
		`,"data":{"a":1}`),
	requestLine(`"status_code":0,"method":"GET","host":"a","port":80`, `,"data":{"a":1},"data":2`),
	requestLine(`"status_code":0,"method":"GET","host":"a","port":80,"started_at":"t"`, `,"data":{"a":12}`),
	requestLine(`"status_code":200,"method":"GET","host":"a","port":80,"path":"/x","query":"q=1","started_at":"t",`+
		`"duration":5,"route":"/","client":"c","request_content_length":1`, ``),
	requestLine(`"status_code":200,"method":"GET","host":"a","port":80,"path":"/x","query":"q=1","started_at":"t",`+
		`"duration":5,"route":"/","client":"c","request_content_length":12`, ` `),
	requestLine(`"status_code":200,"method":"BREW","route":"/","client":"c","user_agent":"\u0041","referer":"r"`,
		`,"data":{"a":1},"errors":[]`),
	requestLine(`"status_code":"x","method":"GET","method":"POST"`, `,"data":5`),
	`{"created_at":"2026-11-21T09:30:15Z","namespace":"n","http":{"status_code":1,"method":"GET","started_at":"t"}}`,
	`{"created_at":"2026-11-21T09:30:15Z","namespace":"n","event":"e","data":{"a":1}}`,
	`{"created_at":"2026-11-21T09:30:15Z","namespace":"m","event":"e","data":{"a":1}`,
	`not JSON`,
}

func requestLine(http, rest string) string {
	return `{"created_at":"2026-11-21T09:30:15.5Z","namespace":"n","event":"e",` +
		`"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736","severity":3,"http":{` + http + `}` + rest + `}`
}

// checkBatch checks that a line has the same record in a batch as in a batch of its own.
func checkBatch(t *testing.T, lines []string) {
	t.Helper()
	for i, got := range convert(t, lines...) {
		if want := convert(t, lines[i])[0]; !reflect.DeepEqual(got, want) {
			t.Errorf("%q after %q:\n got %+v\nwant %+v", lines[i], lines[:i], got, want)
		}
	}
}

func TestBatches(t *testing.T) {
	t.Parallel()
	all := append(append([]string{}, repeatSeeds...), seeds...)
	for range 200 {
		lines := make([]string, 20)
		for i := range lines {
			lines[i] = all[rand.N(len(all))]
		}
		checkBatch(t, lines)
	}
}

// FuzzBatches has two lines, and lines that begin with the one and end with the other.
func FuzzBatches(f *testing.F) {
	for i, line := range repeatSeeds {
		f.Add(line, repeatSeeds[(i+1)%len(repeatSeeds)], uint(len(line)/2))
	}
	f.Fuzz(func(t *testing.T, a, b string, cut uint) {
		if strings.Contains(a+b, "\n") || strings.Count(a+b, "[")+strings.Count(a+b, "{") > maxDepth {
			t.Skip()
		}
		i := int(cut % uint(len(a)+1))
		mixed := a[:i] + b[min(i, len(b)):]
		checkBatch(t, []string{a, b, a, mixed, b, mixed})
		if utf8.ValidString(mixed) {
			check(t, mixed)
		}
	})
}
