package report

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/weirhq/weir/internal/page"
	"github.com/weirhq/weir/internal/readable"
	"github.com/weirhq/weir/load"
)

var (
	//go:embed page.html
	pageHTML string
	//go:embed page.css
	pageCSS string
	//go:embed page.js
	pageJS string
)

var pageTemplate = page.Template(nil, pageHTML)

// HTML writes a page that needs no other file: it opens from disk, offline, in
// light and dark, on paper and on phones, and without scripts. It contains the
// result as JSON and can save it. HTML writes once, or not at all if the
// result's histograms cannot be read.
func HTML(w io.Writer, r *load.Result) error {
	ds, err := distributions(r)
	if err != nil {
		return err
	}
	document, err := json.Marshal(r) // escapes < as \u003c
	if err != nil {
		return fmt.Errorf("report: the result of %s as JSON: %w", r.Started, err)
	}
	s := newSheet(r)
	err = page.Write(w, pageTemplate, struct {
		*sheet
		URL    string
		Tiles  []tile
		Charts []page.Figure
		JSON   template.JS
		File   string
	}{s, readable.Clip(r.URL), tiles(r), charts(r, ds), template.JS(document), "load-" +
		r.Started.UTC().Format("20060102-150405") + ".json"})
	if err != nil {
		return fmt.Errorf("report: the page: %w", err)
	}
	return nil
}

// A tile is one of the large numbers at the top.
type tile struct {
	Name, Number, Unit string
	Bad                bool
}

func tiles(r *load.Result) []tile {
	ts := []tile{{Name: "responses per second", Number: readable.Number(r.RequestsPerSecond)}}
	if l, from := primary(r); l != nil && l.Count > 0 {
		for _, c := range []column{{"p50", l.P50}, {"p99", l.P99}, {"max", l.Max}} {
			n, unit, _ := strings.Cut(span(c.value), " ")
			ts = append(ts, tile{Name: c.key + " from " + from, Number: bounded(l, c.key, n), Unit: unit})
		}
	}
	notOK := r.Failed + r.Unanswered + r.Requests - r.Status["2xx"]
	return append(ts, tile{Name: "of those sent not answered with 2xx", Number: readable.Share(notOK, r.Sent),
		Bad: notOK > 0})
}
