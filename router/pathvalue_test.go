package router

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestPathValuesAreSetAsByServeMux does the same to three requests: it sets parameters
// repeatedly, as nested routers do, sets values as middleware does, and copies the
// request. A ServeMux sets the parameters of the first request, and the two kinds of
// pathValues set those of the others.
func TestPathValuesAreSetAsByServeMux(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	setters := []func(*http.Request, []string, *Params){setByServeMux, setByFields(t), setByPlainTwin}
	for range 2000 {
		requests := make([]*http.Request, len(setters))
		for i := range requests {
			requests[i] = &http.Request{Method: "GET", URL: &url.URL{Path: "/a/b"}, Pattern: "/a/"}
		}
		var done []string
		for step := range 1 + random.IntN(5) {
			name, value := someNames[random.IntN(len(someNames))], fmt.Sprintf("%d", step)
			names, p := someParams(t, random, step)
			kind := random.IntN(4)
			done = append(done, fmt.Sprintf("%s %q %s=%s", [...]string{"parameters", "SetPathValue", "WithContext",
				"Clone"}[kind], names, name, value))
			for i, set := range setters {
				switch kind {
				case 0:
					set(requests[i], names, p)
				case 1:
					requests[i].SetPathValue(name, value)
				case 2:
					requests[i] = requests[i].WithContext(t.Context())
				case 3:
					requests[i] = requests[i].Clone(t.Context())
				}
			}
		}
		want := valuesOf(requests[0])
		for i, req := range requests[1:] {
			if got := valuesOf(req); !maps.Equal(got, want) {
				t.Fatalf("pathValues %d after %s:\ngot  %v\nwant %v", i+1, strings.Join(done, ", "), got, want)
			}
			if req.URL.Path != "/a/b" || req.Pattern != "/a/" || req.RequestURI != "" {
				t.Fatalf("pathValues %d left the URL %s, the pattern %q and the URI %q", i+1, req.URL, req.Pattern,
					req.RequestURI)
			}
		}
	}
}

var someNames = []string{"a", "b", "c", "ab", "_", "Ä1"}

// someParams returns up to four names and values for them.
func someParams(t *testing.T, random *rand.Rand, step int) ([]string, *Params) {
	names := slices.Clone(someNames)
	random.Shuffle(len(names), func(i, k int) { names[i], names[k] = names[k], names[i] })
	names = names[:random.IntN(5)]
	path := strings.Repeat(fmt.Sprintf("/%d%%2F", step), len(names))
	return names, found(t, patternFor(names), cmp.Or(path, "/"))
}

// found returns the result of a lookup with a single pattern.
func found(tb testing.TB, pattern, path string) *Params {
	tb.Helper()
	table, err := NewTable(nil, []Entry[int]{{Pattern: pattern}})
	if err != nil {
		tb.Fatal(err)
	}
	p := new(Params)
	if e, _ := table.Lookup("GET", "", "", path, p); e == nil {
		tb.Fatalf("%s does not find %s", path, pattern)
	}
	return p
}

// setByServeMux lets a ServeMux set the values of a path.
func setByServeMux(req *http.Request, names []string, p *Params) {
	u, pattern := req.URL, req.Pattern
	values, escaped := make([]string, len(names)), make([]string, len(names))
	for i := range names {
		_, values[i] = p.At(i)
		escaped[i] = url.PathEscape(values[i])
	}
	req.URL = &url.URL{Path: pathFor(values), RawPath: pathFor(escaped)}
	muxFor(names).ServeHTTP(nil, req)
	req.URL, req.Pattern = u, pattern
}

func setByFields(t *testing.T) func(*http.Request, []string, *Params) {
	shared, chunk := sharedPathValues{}, valueChunk{}
	return func(req *http.Request, names []string, p *Params) {
		v := shared.of(names)
		if v.pattern == nil {
			t.Fatal("newPathValues returns the plain twin")
		}
		v.set(req, p.captures(), &chunk)
	}
}

func setByPlainTwin(req *http.Request, names []string, p *Params) {
	muxPathValues(names).set(req, p.captures(), nil)
}

func valuesOf(req *http.Request) map[string]string {
	values := map[string]string{}
	for _, name := range someNames {
		values[name] = req.PathValue(name)
	}
	return values
}

// TestForgettingKeepsOtherPathValues tests a router without a match within another one.
func TestForgettingKeepsOtherPathValues(t *testing.T) {
	req := &http.Request{URL: new(url.URL)}
	req.SetPathValue("b", "set")
	newPathValues(someNames[:1]).set(req, found(t, "/{a}", "/1").captures(), new(valueChunk))
	if got := req.PathValue("a"); got != "1" {
		t.Fatalf("a = %q, want 1", got)
	}
	forgetPathValues(req)
	if got := req.PathValue("a") + req.PathValue("b"); got != "set" {
		t.Errorf("a and b are %q, want what was set for b", got)
	}
}

// TestPathValuesWorkWithMuxOfGo121 uses the ServeMux of Go 1.21, which sets no values. GODEBUG
// is read when a program starts, so the test runs itself again.
func TestPathValuesWorkWithMuxOfGo121(t *testing.T) {
	if os.Getenv("GODEBUG") != "httpmuxgo121=1" {
		again := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestPathValuesWorkWithMuxOfGo121$")
		again.Env = append(os.Environ(), "GODEBUG=httpmuxgo121=1")
		if out, err := again.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	if _, err := findRequestFields(); err == nil {
		t.Error("the fields are taken for known")
	}
	names := []string{"a", "b"}
	req := &http.Request{Method: "CONNECT", URL: &url.URL{Path: "/1/2"}, RequestURI: "*"}
	newPathValues(names).set(req, found(t, "/{a}/{b}", "/1/2").captures(), new(valueChunk))
	if got := req.PathValue("a") + req.PathValue("b") + req.RequestURI + req.URL.Path; got != "12*/1/2" {
		t.Errorf("the values and the request's own path are %q, want %q", got, "12*/1/2")
	}
}
