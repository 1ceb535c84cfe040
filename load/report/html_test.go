package report_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"github.com/weirhq/weir/load"
	"github.com/weirhq/weir/load/internal/hdr"
	"github.com/weirhq/weir/load/report"
)

// page returns the page of one of the results. Each is made once.
func page(t *testing.T, name string) []byte {
	t.Helper()
	if pages[name] == nil {
		pages[name] = written(t, func(b *bytes.Buffer) error { return report.HTML(b, results(t)[name]) })
	}
	return pages[name]
}

var pages = map[string][]byte{} // the tests do not run in parallel

func TestHTMLMatchesTheGoldenFile(t *testing.T) {
	golden(t, "one.html", page(t, "one"))
}

// void elements have no end tag, and svgEmpty elements are self-closing.
var (
	void     = []string{"meta", "br", "wbr"}
	svgEmpty = []string{"line", "path", "rect"}
)

// TestHTMLIsWellFormed checks that elements are closed in order, and that there
// are no elements and attributes other than those of the template.
func TestHTMLIsWellFormed(t *testing.T) {
	for name := range results(t) {
		checkWellFormed(t, name, page(t, name))
	}
}

func checkWellFormed(t *testing.T, name string, page []byte) {
	t.Helper()
	if !utf8.Valid(page) {
		t.Errorf("%s: the page is not UTF-8", name)
	}
	var open []string
	z := html.NewTokenizer(bytes.NewReader(page))
	for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() {
		token := z.Token()
		switch kind {
		case html.StartTagToken:
			if !slices.Contains(void, token.Data) {
				open = append(open, token.Data)
			}
		case html.SelfClosingTagToken:
			if !slices.Contains(svgEmpty, token.Data) {
				t.Errorf("%s: <%s/> is not an element of SVG that may be empty", name, token.Data)
			}
		case html.EndTagToken:
			if len(open) == 0 || open[len(open)-1] != token.Data {
				t.Fatalf("%s: </%s> ends none of %v", name, token.Data, open)
			}
			open = open[:len(open)-1]
		}
		checkReferences(t, name, token)
	}
	if !errors.Is(z.Err(), io.EOF) {
		t.Errorf("%s: %v", name, z.Err())
	}
	if len(open) > 0 {
		t.Errorf("%s: %v do not end", name, open)
	}
}

// checkReferences refuses elements that load or run anything.
func checkReferences(t *testing.T, name string, token html.Token) {
	t.Helper()
	switch token.Data {
	case "img", "link", "iframe", "object", "embed", "base", "form", "audio", "video", "image", "use", "a":
		if token.Type != html.TextToken {
			t.Errorf("%s: the page has <%s>", name, token.Data)
		}
	}
	for _, a := range token.Attr {
		if strings.HasPrefix(a.Key, "on") || slices.Contains([]string{"src", "href", "xlink:href", "srcset", "action",
			"background"}, a.Key) {
			t.Errorf("%s: <%s> has %s=%q", name, token.Data, a.Key, a.Val)
		}
		if a.Key == "style" && !regexp.MustCompile(`^(top|left):\d+\.\d\d%$`).MatchString(a.Val) {
			t.Errorf("%s: <%s> has style=%q, want a place in percent", name, token.Data, a.Val)
		}
	}
}

// TestHTMLRunsOnlyItsScript compares the scripts and styles of a page with
// hostile texts with those of a harmless one.
func TestHTMLRunsOnlyItsScript(t *testing.T) {
	own := texts(t, page(t, "closed"), "script", "style")
	strange := texts(t, page(t, "hostile"), "script", "style")
	if len(own) != 3 || len(strange) != 3 {
		t.Fatalf("%d and %d scripts and styles, want 3: the style, the result, the script", len(own), len(strange))
	}
	for _, i := range []int{0, 2} {
		if diff := cmp.Diff(own[i], strange[i]); diff != "" {
			t.Errorf("the words of a result change the page's script or style:\n%s", diff)
		}
	}
	for _, remote := range []string{"@import", "url(", "//cdn", "fetch(", "http:", "https:"} {
		if strings.Contains(own[0]+own[2], remote) {
			t.Errorf("the page's script or style has %q", remote)
		}
	}
}

// texts returns the texts of all elements with these names.
func texts(t *testing.T, page []byte, names ...string) []string {
	t.Helper()
	root, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for n := range root.Descendants() {
		if n.Type == html.ElementNode && slices.Contains(names, n.Data) && n.FirstChild != nil {
			all = append(all, n.FirstChild.Data)
		}
	}
	return all
}

func TestHTMLHoldsTheResult(t *testing.T) {
	for name, r := range results(t) {
		want, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if got := texts(t, page(t, name), "script")[0]; got != string(want) {
			t.Errorf("%s: the page's result has %d bytes and differs from the result's JSON, which has %d", name,
				len(got), len(want))
		}
	}
}

// TestHTMLHasTheChartsOfTheResult names the charts of each kind of result.
func TestHTMLHasTheChartsOfTheResult(t *testing.T) {
	for name, want := range map[string][]string{
		"closed": {"Responses per second", "Errors per second", "Latency from sent, each second", "CPU of the server",
			"Memory of the server",
			"Latency by percentile", "Distribution of the latency from sent"},
		"stalled": {"Responses per second", "Latency from due, each second", "Latency by percentile",
			"Distribution of the latency from due"},
		"refused": nil,
		"zero":    nil,
	} {
		if diff := cmp.Diff(want, texts(t, page(t, name), "h3")); diff != "" {
			t.Errorf("%s: charts (-want +got):\n%s", name, diff)
		}
	}
}

func TestHTMLStaysSmall(t *testing.T) {
	long := len(page(t, "huge")) - len(texts(t, page(t, "huge"), "script")[0])
	if most := 400 << 10; long > most {
		t.Errorf("the page of a run of an hour has %d bytes besides its result, want at most %d", long, most)
	}
}

// TestHTMLHasADotForEachRequest checks that each request has a dot, and that failed ones have
// another colour.
func TestHTMLHasADotForEachRequest(t *testing.T) {
	r := *results(t)["stalled"]
	r.Points = []load.Point{{At: 0, Latency: 900, Status: 200}, {At: 5, Latency: 1e6, Status: 0},
		{At: 6, Latency: 0, Status: 200}, {At: 10, Latency: 100, Status: 503}}
	page := written(t, func(b *bytes.Buffer) error { return report.HTML(b, &r) })
	checkWellFormed(t, "points", page)
	for class, want := range map[string]int{"c1": 2, "bad": 1} {
		dots := regexp.MustCompile(`<path class="` + class + ` dots" d="([^"]*)"`).FindSubmatch(page)
		if dots == nil || bytes.Count(dots[1], []byte("h0")) != want {
			t.Errorf("the dots of class %s are %q, want %d", class, dots, want)
		}
	}
	if !bytes.Contains(page, []byte("the slowest took 1.00 s")) {
		t.Error("no place of the chart says what the slowest took")
	}
}

// TestChartsAndTablesRoundRanksUp reads the tooltips of the chart of percentiles. Their ranks are
// rounded up, as in the tables: of 60 requests with two slow ones, each quantile above 58/60 is
// slow.
func TestChartsAndTablesRoundRanksUp(t *testing.T) {
	h := hdr.New()
	h.Record(1e6, 58)
	h.Record(1e9, 2)
	page := written(t, func(b *bytes.Buffer) error {
		return report.HTML(b, &load.Result{Latency: latency(h), DurationSeconds: 1})
	})
	fast, want := strings.Count(string(page), "% of the requests took at most 1.00 ms from sent"), 0
	for i := 0.5; i < 100; i++ { // a tooltip for each hundredth of the axis from 0 to 99%
		if 60*(1-math.Pow(100, -i/100)) <= 58 {
			want++
		}
	}
	if fast != want {
		t.Errorf("%d tooltips show the fast requests, want %d", fast, want)
	}
}
