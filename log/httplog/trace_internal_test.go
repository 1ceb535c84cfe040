package httplog

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
)

var (
	traceParentOracle = regexp.MustCompile(`\A([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}\z`)
	plainIDOracle     = regexp.MustCompile(`\A[!#-&(-+\--\[\]-~]{1,128}\z`)
	newIDOracle       = regexp.MustCompile(`\A[a-zA-Z]{16}\z`)
)

// oracleTraceID is traceID with regular expressions; "" means a new id.
func oracleTraceID(parent, id string) string {
	m := traceParentOracle.FindStringSubmatch(parent)
	switch {
	case m != nil && m[1] != "ff" && m[2] != strings.Repeat("0", 32) && m[3] != strings.Repeat("0", 16):
		return m[2]
	case plainIDOracle.MatchString(id):
		return id
	}
	return ""
}

func FuzzTraceID(f *testing.F) {
	const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	for _, seed := range []string{parent, "ff" + parent[2:], strings.ToUpper(parent), parent + "-x",
		strings.ReplaceAll(parent, "-", "_"), ""} {
		for _, id := range []string{"abc", "a,b", `a"b`, strings.Repeat("a", 129), "a'b", `a\b`, ""} {
			f.Add(seed, id)
		}
	}
	f.Fuzz(func(t *testing.T, parent, id string) {
		got := traceID(http.Header{"Traceparent": {parent}, "X-Request-Id": {id}})
		want := oracleTraceID(parent, id)
		if want == "" && !newIDOracle.MatchString(got) || want != "" && got != want {
			t.Errorf("traceparent %q, id %q: got %q, want %q", parent, id, got, want)
		}
	})
}
