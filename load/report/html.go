package report

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/weirhq/weir/internal/chart"
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

var pageTemplate = chart.Page(nil, pageHTML)

// HTML writes a page that needs nothing else: it opens from disk, offline, in
// the dark and in the light, on paper and on a phone, and without a script. The
// result is in it as JSON and can be saved from it. It writes once, or nothing
// when the result's histograms cannot be read.
func HTML(w io.Writer, r *load.Result) error {
	ds, err := distributions(r)
	if err != nil {
		return err
	}
	document, err := json.Marshal(r) // in which < stands as \u003c
	if err != nil {
		return fmt.Errorf("report: the result of %s as JSON: %w", r.Started, err)
	}
	var b bytes.Buffer
	err = pageTemplate.Execute(&b, struct {
		*sheet
		Title    string
		URL      string
		Tiles    []tile
		Charts   []figure
		Height   int
		ViewBox  string
		CSS      template.CSS
		JS, JSON template.JS
		File     string
	}{
		sheet: newSheet(r), Title: "Load on " + readable.Clip(r.URL), URL: readable.Clip(r.URL), Tiles: tiles(r), Charts: charts(r, ds),
		Height: chartHeight, ViewBox: fmt.Sprintf("0 0 %d %d", chartWidth, chartHeight),
		CSS: template.CSS(chart.CSS() + pageCSS), JS: template.JS(pageJS), JSON: template.JS(document),
		File: "load-" + r.Started.UTC().Format("20060102-150405") + ".json",
	})
	if err != nil {
		return fmt.Errorf("report: the page: %w", err)
	}
	_, err = w.Write(b.Bytes())
	return err
}

// A tile is a number that is seen first.
type tile struct {
	Name, Number, Unit string
	Bad                bool
}

func tiles(r *load.Result) []tile {
	ts := []tile{{Name: "answers per second", Number: readable.Number(r.RequestsPerSecond)}}
	if l, from := primary(r); l != nil && l.Count > 0 {
		for _, c := range []column{{"p50", l.P50}, {"p99", l.P99}, {"max", l.Max}} {
			n, unit, _ := strings.Cut(span(c.value), " ")
			ts = append(ts, tile{Name: c.key + " from " + from, Number: bounded(l, c.key, n), Unit: unit})
		}
	}
	notOK := r.Failed + r.Unanswered + r.Requests - r.Status["2xx"]
	return append(ts, tile{Name: "of those sent not answered with 2xx", Number: readable.Share(notOK, r.Sent), Bad: notOK > 0})
}
