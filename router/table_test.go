package router_test

import (
	"maps"
	"strings"
	"sync"
	"testing"

	"github.com/weirhq/weir/router"
)

// newTable returns a table whose values are the patterns.
func newTable(t testing.TB, patterns ...string) *router.Table[string] {
	t.Helper()
	var entries []router.Entry[string]
	for _, p := range patterns {
		entries = append(entries, router.Entry[string]{Pattern: p, Value: p})
	}
	table, err := router.NewTable(nil, entries)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// values returns the parameters by name.
func values(p *router.Params) map[string]string {
	all := map[string]string{}
	for i := range p.Len() {
		name, value := p.At(i)
		all[name] = value
	}
	return all
}

type lookupCase struct {
	request string // "METHOD host/path"
	pattern string // "": not found
	values  map[string]string
}

func checkLookups(t *testing.T, table *router.Table[string], cases []lookupCase) {
	t.Helper()
	var params router.Params
	for _, c := range cases {
		method, target, _ := strings.Cut(c.request, " ")
		slash := strings.IndexByte(target, '/')
		m := lookup(table, method, target[:slash], target[slash:], &params)
		if m.Pattern != c.pattern || m.Value != c.pattern || m.Found != (c.pattern != "") {
			t.Errorf("%s: got %+v, want %q", c.request, m, c.pattern)
		}
		if got := values(&params); !maps.Equal(got, c.values) {
			t.Errorf("%s: got %q, want %q", c.request, got, c.values)
		}
	}
}

type is = map[string]string

func TestLookupPrefersTheMostSpecific(t *testing.T) {
	checkLookups(t, newTable(t,
		"/{$}", "/census", "/datasets/{uri...}", "/static/", "/static/{$}", "GET,POST /static/{id:uuid}/{addr:ipv4}",
		"/users/{id:int}", "/users/{name}", "/users/me", "/a%2Fb/{x}", "/100%25",
	), []lookupCase{
		{"GET /", "/{$}", nil},
		{"GET /census", "/census", nil},
		{"GET /census/", "", nil},
		{"GET /datasets/", "/datasets/{uri...}", is{"uri": ""}},
		{"GET /datasets/a/b/", "/datasets/{uri...}", is{"uri": "a/b/"}},
		{"GET /datasets", "", nil},
		{"GET /d%61tasets/a%2Fb/c%20d", "/datasets/{uri...}", is{"uri": "a/b/c d"}},
		{"GET /datasets%2Fa", "", nil},
		{"GET /static/", "/static/{$}", nil},
		{"GET /static/x/y", "/static/", nil},
		{"POST /static/123e4567-e89b-12d3-a456-426614174000/192.0.2.1", "GET,POST /static/{id:uuid}/{addr:ipv4}",
			is{"id": "123e4567-e89b-12d3-a456-426614174000", "addr": "192.0.2.1"}},
		{"PUT /static/123e4567-e89b-12d3-a456-426614174000/192.0.2.1", "/static/", nil},
		{"GET /static/123e4567-e89b-12d3-a456-426614174000/192.0.2.256", "/static/", nil},
		{"GET /users/42", "/users/{id:int}", is{"id": "42"}},
		{"GET /users/%34%32", "/users/{id:int}", is{"id": "42"}},
		{"GET /users/me", "/users/me", nil},
		{"GET /users/you", "/users/{name}", is{"name": "you"}},
		{"GET /users/", "", nil},
		{"GET /a%2fb/%zz", "/a%2Fb/{x}", is{"x": "%zz"}},
		{"GET /a/b/c", "", nil},
		{"GET /100%25", "/100%25", nil},
		{"GET /100%2525", "", nil}, // unescaped once, not twice
		{"GET //census", "", nil},
	})
}

func TestLookupFindsParametersWithinText(t *testing.T) {
	checkLookups(t, newTable(t,
		"/report-{id:int}.pdf", "/report-{name}.pdf", "/report-{name}", "/report-1.pdf", "/re{x}", "/{file}.pdf",
		"/{file}.tar.gz", "/{file}.gz",
		"/v{major:int}/{x}", "/v{word}/y", "/aba{x}aba", "/a%2Fb-{x}%20c", "/{any:date}", "/{a...}/v{b}/c",
	), []lookupCase{
		{"GET /report-1.pdf", "/report-1.pdf", nil},
		{"GET /report-2.pdf", "/report-{id:int}.pdf", is{"id": "2"}},
		{"GET /report-two.pdf", "/report-{name}.pdf", is{"name": "two"}},
		{"GET /report-two.doc", "/report-{name}", is{"name": "two.doc"}},
		{"GET /report-.pdf", "/report-{name}", is{"name": ".pdf"}}, // a value cannot be empty
		{"GET /report-", "/re{x}", is{"x": "port-"}},
		{"GET /re.pdf", "/re{x}", is{"x": ".pdf"}}, // the prefix has precedence
		{"GET /x.pdf", "/{file}.pdf", is{"file": "x"}},
		{"GET /.pdf", "", nil},
		{"GET /x.tar.gz", "/{file}.tar.gz", is{"file": "x"}},
		{"GET /.tar.gz", "/{file}.gz", is{"file": ".tar"}},
		{"GET /v1/y", "/v{major:int}/{x}", is{"major": "1", "x": "y"}},
		{"GET /vx/y", "/v{word}/y", is{"word": "x"}},
		{"GET /vx/z", "", nil},
		{"GET /ababa", "", nil}, // prefix and suffix do not overlap
		{"GET /abaaba", "", nil},
		{"GET /abaXaba", "/aba{x}aba", is{"x": "X"}},
		{"GET /%61ba%2Faba", "/aba{x}aba", is{"x": "/"}},
		{"GET /a%2fb-%2520%20c", "/a%2Fb-{x}%20c", is{"x": "%20"}},
		{"GET /a/b-x%20c", "", nil},
		{"GET /2024-02-29", "/{any:date}", is{"any": "2024-02-29"}},
		{"GET /v1/v2/c", "/{a...}/v{b}/c", is{"a": "v1", "b": "2"}},
		{"GET /report-1/report-2.pdf/v3/c", "/{a...}/v{b}/c", is{"a": "report-1/report-2.pdf", "b": "3"}},
	})
}

func TestLookupFindsMiddleWildcards(t *testing.T) {
	checkLookups(t, newTable(t,
		"/{topic...}/datasets/{rest...}", "/{uri...}/datalist", "/{uri...}/datalist/{$}", "/{a...}/x/{b...}/y/{c}",
		"/{path...}",
	), []lookupCase{
		{"GET /economy/prices/datasets/cpi/2024", "/{topic...}/datasets/{rest...}", is{"topic": "economy/prices",
			"rest": "cpi/2024"}},
		{"GET /a/datasets/b/datasets/c", "/{topic...}/datasets/{rest...}", is{"topic": "a", "rest": "b/datasets/c"}},
		{"GET /datasets/b", "/{path...}", is{"path": "datasets/b"}}, // at least one segment
		{"GET /datasets/datasets/", "/{topic...}/datasets/{rest...}", is{"topic": "datasets", "rest": ""}},
		{"GET /a/b/datalist", "/{uri...}/datalist", is{"uri": "a/b"}},
		{"GET /a/b/datalist/", "/{uri...}/datalist/{$}", is{"uri": "a/b"}},
		{"GET /datalist", "/{path...}", is{"path": "datalist"}},
		{"GET /p/x/q/x/r/y/z", "/{a...}/x/{b...}/y/{c}", is{"a": "p", "b": "q/x/r", "c": "z"}},
		{"GET /p/x/y/z", "/{path...}", is{"path": "p/x/y/z"}},
		{"GET /p/x/y/y/z", "/{a...}/x/{b...}/y/{c}", is{"a": "p", "b": "y", "c": "z"}},
		{"GET /", "/{path...}", is{"path": ""}},
	})
}

// The routes of a statistics site's front door overlap in every way.
func TestLookupOrdersOverlappingRoutes(t *testing.T) {
	checkLookups(t, newTable(t,
		"/{$}", "/census", "/datasets/{uri...}", "/{topic}/datasets/{uri...}", "/{uri...}/alladhocs",
		"/{uri...}/datalist", "/embed/visualisations/{path...}", "/{path...}",
	), []lookupCase{
		{"GET /", "/{$}", nil},
		{"GET /census", "/census", nil},
		{"GET /datasets/datalist", "/datasets/{uri...}", is{"uri": "datalist"}},
		{"GET /economy/datasets/datalist", "/{topic}/datasets/{uri...}", is{"topic": "economy", "uri": "datalist"}},
		{"GET /economy/prices/datasets/datalist", "/{uri...}/datalist", is{"uri": "economy/prices/datasets"}},
		{"GET /census/alladhocs", "/{uri...}/alladhocs", is{"uri": "census"}},
		{"GET /embed/visualisations/dvc1/index.html", "/embed/visualisations/{path...}", is{"path": "dvc1/index.html"}},
		{"GET /embed/other", "/{path...}", is{"path": "embed/other"}},
		{"GET /census/", "/{path...}", is{"path": "census/"}},
	})
}

func TestLookupDistinguishesMethods(t *testing.T) {
	table := newTable(t,
		"GET /a", "HEAD /a", "POST,PUT /a", "GET /b", "/b", "DELETE /c/{x}", "GET /c/{y...}", "PURGE /c/d")
	checkLookups(t, table, []lookupCase{
		{"GET /a", "GET /a", nil},
		{"HEAD /a", "HEAD /a", nil},
		{"PUT /a", "POST,PUT /a", nil},
		{"HEAD /b", "GET /b", nil},
		{"POST /b", "/b", nil},
		{"PURGE /c/d", "PURGE /c/d", nil},
		{"DELETE /c/d", "DELETE /c/{x}", is{"x": "d"}},
		{"HEAD /c/d", "GET /c/{y...}", is{"y": "d"}},
	})
	for request, want := range map[string]string{
		"DELETE /a": "GET, HEAD, POST, PUT",
		"POST /c/d": "DELETE, GET, HEAD, PURGE",
		"get /a":    "GET, HEAD, POST, PUT",
		"POST /d":   "",
	} {
		method, path, _ := strings.Cut(request, " ")
		if m := lookup(table, method, "", path, nil); m.Found || m.Allow != want {
			t.Errorf("%s: got %+v, want Allow %q", request, m, want)
		}
	}
}

func TestLookupDistinguishesHosts(t *testing.T) {
	checkLookups(t, newTable(t, "Example.com/a", "example.com/b/{x}", "GET other.org/{y...}", "[::1]/a", "/{z...}"),
		[]lookupCase{
			{"GET example.com/a", "Example.com/a", nil},
			{"GET EXAMPLE.com:8080/a", "Example.com/a", nil},
			{"GET example.com./a", "Example.com/a", nil},
			{"GET www.example.com/a", "/{z...}", is{"z": "a"}},
			{"GET example.com/c", "/{z...}", is{"z": "c"}},
			{"GET other.org/a", "GET other.org/{y...}", is{"y": "a"}},
			{"POST other.org/a", "/{z...}", is{"z": "a"}},
			{"GET [::1]/a", "[::1]/a", nil},
			{"GET [::1]:80/a", "[::1]/a", nil},
			{"GET /a", "/{z...}", is{"z": "a"}},
		})
}

func TestLookupToleratesStrangePaths(t *testing.T) {
	table := newTable(t, "/{path...}", "/{a}/{b}")
	for path, want := range map[string]string{
		"": "", "*": "", "a/b": "", "//": "/{path...}", "/a//": "/{path...}", "/%": "/{path...}", "/%2/%": "/{a}/{b}",
		"/\x00/\xff": "/{a}/{b}",
	} {
		if m := lookup(table, "GET", "", path, nil); m.Pattern != want {
			t.Errorf("%q: got %+v, want %q", path, m, want)
		}
	}
}

func TestZeroTableMatchesNothing(t *testing.T) {
	var table router.Table[int]
	if m := lookup(&table, "GET", "example.com", "/", nil); m.Found || m.Allow != "" {
		t.Errorf("got %+v", m)
	}
}

func TestParamsAreReused(t *testing.T) {
	small, big := newTable(t, "/{a}"), newTable(t, "/{a}/{b}/{c}/{d...}")
	var p router.Params
	lookup(big, "GET", "", "/1/2/3/4/%35", &p)
	four := p.Get("d")
	lookup(small, "GET", "", "/x", &p)
	if four != "4/5" || p.Len() != 1 || p.Get("a") != "x" || p.Get("b") != "" {
		t.Errorf("got %q, then %q", four, values(&p))
	}
	lookup(small, "GET", "", "/x/y", &p)
	if p.Len() != 0 || p.Get("a") != "" {
		t.Errorf("a lookup that found nothing left %q", values(&p))
	}
}

func TestNewTableKeepsNothingOfTheCaller(t *testing.T) {
	entries := []router.Entry[int]{{Pattern: "/a", Value: 1}}
	table, err := router.NewTable(nil, entries)
	if err != nil {
		t.Fatal(err)
	}
	entries[0] = router.Entry[int]{Pattern: "/b", Value: 2}
	if m := lookup(table, "GET", "", "/a", nil); m.Value != 1 || m.Pattern != "/a" {
		t.Errorf("got %+v", m)
	}
}

func TestTableIsShared(t *testing.T) {
	table := newTable(t, "/{a...}/x/{b...}/y/{c}", "/{a:int}/{b}", "GET /m")
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			var p router.Params
			for range 200 {
				lookup(table, "GET", "h", "/p/x/q/y/%7a", &p)
				if p.Get("c") != "z" {
					t.Error("lost z")
				}
				lookup(table, "POST", "h", "/m", &p)
			}
		})
	}
	all.Wait()
}

func TestStringShowsTheTree(t *testing.T) {
	got := newTable(t,
		"/", "/census", "GET /datasets/{uri...}", "POST /datasets/{path...}", "/{topic}/datasets/{uri...}",
		"/{uri...}/datalist",
		"/{id:int}", "/{d:date}/{$}", "example.com/a%2Fb",
		"/{file}.json", "/v{major:int}", "/v{x}", "/{file:slug}.json", "/report-{id:int}.pdf", "/%7B{x}%2F/y",
	).String()
	want := `example.com
  a%2Fb -> example.com/a%2Fb
(any host)
  census -> /census
  datasets
    {...} -> GET /datasets/{uri...}, POST /datasets/{path...}
  report-{:int}.pdf -> /report-{id:int}.pdf
  %7B{}%2F
    y -> /%7B{x}%2F/y
  v{:int} -> /v{major:int}
  v{} -> /v{x}
  {:slug}.json -> /{file:slug}.json
  {}.json -> /{file}.json
  {:date}
    {$} -> /{d:date}/{$}
  {:int} -> /{id:int}
  {}
    datasets
      {...} -> /{topic}/datasets/{uri...}
  {...}/
    datalist -> /{uri...}/datalist
  {...} -> /
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestManyLiteralsAtOnePlaceAreFound(t *testing.T) {
	var patterns []string
	for _, c := range "abcdefghijklmnopqrstuvwxyz" {
		patterns = append(patterns, "/"+string(c)+"/{x}", "/"+string(c)+string(c))
	}
	table := newTable(t, patterns...)
	for _, p := range patterns {
		path := strings.Replace(p, "{x}", "1", 1)
		if m := lookup(table, "GET", "", path, nil); m.Pattern != p {
			t.Errorf("%s: got %+v", path, m)
		}
	}
	if m := lookup(table, "GET", "", "/zzz", nil); m.Found {
		t.Errorf("got %+v", m)
	}
}
