package config_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/feature/edits"
	"github.com/weirhq/weir/router"
)

const onsFile = "../../examples/ons/weir.yaml"

// upstreamTable returns a table of the routes of c with the names of their
// upstreams.
func upstreamTable(t *testing.T, c *config.Config) *router.Table[string] {
	t.Helper()
	constraints := router.Constraints{}
	for name, expr := range c.Constraints {
		constraint, err := router.CompileRegexp(expr)
		if err != nil {
			t.Fatal(err)
		}
		constraints[name] = constraint
	}
	var entries []router.Entry[string]
	for _, r := range c.Routes {
		entries = append(entries, router.Entry[string]{Pattern: r.Match, Value: r.To})
	}
	table, err := router.NewTable(constraints, entries)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestONSRoutesReachTheirUpstreams(t *testing.T) {
	src, err := os.ReadFile(filepath.FromSlash(onsFile))
	if err != nil {
		t.Fatal(err)
	}
	c, err := config.Parse(onsFile, src, nil)
	if err != nil {
		t.Fatal(err)
	}
	table := upstreamTable(t, c)
	routes := map[string]config.Route{}
	for _, r := range c.Routes {
		routes[r.Match] = r
	}
	reached := map[string]bool{}
	for _, c := range []struct{ path, want string }{
		{"/", "homepage"},
		{"/census", "homepage"},
		{"/census/", "babbage"},
		{"/census/2011census", "babbage"},
		{"/census/maps", "census-atlas"},
		{"/census/maps/", "census-atlas"},
		{"/census/maps/choropleth/population", "census-atlas"},
		{"/census/find-a-dataset", "search"},

		{"/download/table", "download"},
		{"/download/2021/table.csv", "download"},
		{"/downloads", "babbage"},

		{"/datasets/", "datasets"},
		{"/datasets/cpih01", "datasets"},
		{"/datasets/cpih01/editions/time-series/versions/6", "datasets"},
		{"/datasets/cpih01/datalist", "datasets"},
		{"/economy/datasets/cpih01", "datasets"},
		{"/economy/datasets/cpih01/current", "datasets"},
		{"/economy/datasets/publications", "datasets"},
		{"/economy/inflationandpriceindices/datasets/cpih01", "babbage"},

		{"/filters/3f5b/dimensions", "filters"},
		{"/filters/3f5b/dimensions/geography", "filters"},
		{"/filter-outputs/3f5b", "filters"},
		{"/filter-outputs/3f5b.csv", "filters"},
		{"/filters", "babbage"},

		{"/feedback", "feedback"},
		{"/feedback/thanks", "feedback"},
		{"/feedbacks", "babbage"},
		{"/cookies", "babbage"},

		{"/search", "search"},
		{"/search/", "babbage"},
		{"/searchdata", "=> /search"},
		{"/searchpublication", "=> /search"},
		{"/timeseriestool", "search"},
		{"/economy/timeseriestool", "babbage"},
		{"/alladhocs", "search"},
		{"/economy/alladhocs", "=> /alladhocs"},
		{"/allmethodologies", "search"},
		{"/economy/grossdomesticproductgdp/allmethodologies", "=> /allmethodologies"},
		{"/datalist", "search"},
		{"/economy/datalist", "search"},
		{"/economy/environmentalaccounts/datalist", "search"},
		{"/economy/environmentalaccounts/datalist/", "babbage"},
		{"/publications", "search"},
		{"/economy/grossdomesticproductgdp/publications", "search"},
		{"/publishedrequests", "search"},
		{"/aboutus/transparency/publishedrequests", "=> /publishedrequests"},
		{"/staticlist", "search"},
		{"/a/b/c/d/staticlist", "search"},
		{"/topicspecificmethodology", "search"},
		{"/economy/topicspecificmethodology", "search"},
		{"/economy/bulletins/gdp/previousreleases", "search"},
		{"/economy/bulletins/gdp/latest/relateddata", "search"},
		{"/economy/bulletins/gdp/latest/relatedData", "search"},

		{"/releasecalendar", "release-calendar"},
		{"/calendar/releasecalendar", "release-calendar"},
		{"/calendar", "babbage"},
		{"/releases/gdpq1", "release-calendar"},
		{"/releases/gdpq1/datalist", "release-calendar"},

		{"/embed", "babbage"},
		{"/embed/visualisations/dvc1945/index.html", "babbage"},
		{"/visualisations", "babbage"},
		{"/visualisations/dvc1945/", "babbage"},
		{"/chart", "babbage"},
		{"/resource", "babbage"},
		{"/ons/rel/ctu/index.html", "babbage"},
		{"/economy", "babbage"},
		{"/economy/grossdomesticproductgdp/bulletins/gdp/latest", "babbage"},
		{"/economy%2Fdatasets/datasets/x", "datasets"},
		{"/favicon.ico", "babbage"},
	} {
		e, _ := table.Lookup("GET", "www.ons.gov.uk", "", c.path, nil)
		if e == nil {
			t.Errorf("GET %s reached nothing, want %q", c.path, c.want)
			continue
		}
		r := routes[e.Pattern]
		got := r.To
		if r.Redirect != nil {
			got = "=> " + r.Redirect.To
		}
		if got != c.want {
			t.Errorf("GET %s reached %q by %q, want %q", c.path, got, e.Pattern, c.want)
		}
		framed := c.path == "/embed" || strings.HasPrefix(c.path, "/visualisations/") || strings.HasPrefix(c.path, "/census/maps/")
		denied := slices.Contains(r.ResponseHeaders.Set, edits.Field{Name: "X-Frame-Options", Value: "SAMEORIGIN"})
		if framed == denied { // SecurityHandler of the original
			t.Errorf("GET %s by %q: X-Frame-Options is %v, want %v", c.path, e.Pattern, denied, !framed)
		}
		reached[e.Value] = true
	}
	for _, u := range c.Upstreams {
		if !reached[u.Name] {
			t.Errorf("no example reached upstream %s", u.Name)
		}
	}
}

func TestONSServersComeFromTheEnvironment(t *testing.T) {
	src, err := os.ReadFile(filepath.FromSlash(onsFile))
	if err != nil {
		t.Fatal(err)
	}
	c, err := config.Parse(onsFile, src, env("BABBAGE_URL=http://192.0.2.10:8080", "BIND_ADDR=127.0.0.1:0"))
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Upstreams[0].Servers[0].URL; got != "http://192.0.2.10:8080" {
		t.Errorf("babbage is at %s", got)
	}
	if got := c.Listen[0]; got != "127.0.0.1:0" {
		t.Errorf("the listener is %s", got)
	}
}
