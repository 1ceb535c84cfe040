package report

import (
	"bytes"
	"fmt"
	"html/template"
	"os"
	"path/filepath"

	"github.com/google/pprof/profile"

	"github.com/weirhq/weir/internal/page"
	"github.com/weirhq/weir/lab/flame"
	"github.com/weirhq/weir/lab/results"
)

// A profileView is the part of a page about a profile.
type profileView struct {
	Kind  string
	File  string
	Note  string
	Top   page.Table
	Flame template.HTML

	Diff      page.Table
	DiffFlame template.HTML

	graph *flame.Graph
}

// maxFunctions is the length of a table of functions.
const maxFunctions = 30

// profileViews reads the profiles of all configurations below dir. A profile
// that cannot be read is a warning, not an error, because the numbers do not
// need it.
func profileViews(dir string, r *results.Results) (views map[string][]profileView, warnings []string) {
	views = map[string][]profileView{}
	for i := range r.Profiled {
		run := &r.Profiled[i]
		for _, p := range run.Profiles {
			v, err := readProfile(dir, p, run)
			if err != nil {
				warnings = append(warnings,
					fmt.Sprintf("The %s profile of %s is not shown: %v.", p.Kind, run.Configuration, err))
				continue
			}
			views[run.Configuration] = append(views[run.Configuration], v)
		}
	}
	base := baselineOf(r)
	for name, vs := range views {
		if name == base {
			continue
		}
		for i := range vs {
			for k := range views[base] {
				if b := &views[base][k]; b.Kind == vs[i].Kind {
					if err := vs[i].compare(b, base); err != nil {
						warnings = append(warnings,
							fmt.Sprintf("The %s profile of %s is not compared: %v.", vs[i].Kind, name, err))
					}
				}
			}
		}
	}
	return views, warnings
}

func baselineOf(r *results.Results) string {
	for _, c := range r.Configurations {
		if c.Baseline {
			return c.Name
		}
	}
	return ""
}

func readProfile(dir string, p results.Profile, run *results.Run) (profileView, error) {
	if !filepath.IsLocal(p.File) {
		return profileView{}, fmt.Errorf("its file %q is not below the results' folder", p.File)
	}
	f, err := os.Open(filepath.Join(dir, p.File))
	if err != nil {
		return profileView{}, err
	}
	defer f.Close()
	parsed, err := profile.Parse(f)
	if err != nil {
		return profileView{}, fmt.Errorf("%s: %w", p.File, err)
	}
	per := 0.0
	if run.Load != nil {
		per = float64(run.Load.Requests)
	}
	g, err := flame.New(parsed, p.Kind, per)
	if err != nil {
		return profileView{}, fmt.Errorf("%s: %w", p.File, err)
	}
	v := profileView{Kind: p.Kind, File: p.File, graph: g, Top: topTable(g)}
	if per > 0 {
		v.Note = "Values are from the profile's own run, divided by its answered requests."
	}
	var svg bytes.Buffer
	if err := g.WriteSVG(&svg, p.Kind+", "+run.Configuration); err != nil {
		return v, err
	}
	v.Flame = template.HTML(svg.String()) // flame escapes what it writes
	return v, nil
}

func topTable(g *flame.Graph) page.Table {
	numbers := page.Numbers("itself", "share", "with what it calls", "share")
	t := page.Table{Columns: append(page.Texts("function"), numbers...)}
	for _, row := range g.Top(maxFunctions) {
		t.Rows = append(t.Rows, []page.Cell{
			{Text: row.Function},
			sorted(g.Text(row.Flat), row.Flat), sorted(shareText(row.FlatShare), row.FlatShare),
			sorted(g.Text(row.Cumulative), row.Cumulative), sorted(shareText(row.CumShare), row.CumShare),
		})
	}
	return t
}

func shareText(share float64) string { return fmt.Sprintf("%.1f%%", 100*share) }

// compare adds the difference from the baseline's profile.
func (v *profileView) compare(base *profileView, name string) error {
	numbers := page.Numbers("in the baseline", "here", "difference")
	v.Diff = page.Table{Columns: append(page.Texts("function"), numbers...)}
	for _, c := range flame.Diff(base.graph, v.graph, maxFunctions) {
		if c.New.Flat == c.Base.Flat {
			continue
		}
		v.Diff.Rows = append(v.Diff.Rows, []page.Cell{
			{Text: c.Function},
			sorted(v.graph.Text(c.Base.Flat), c.Base.Flat), sorted(v.graph.Text(c.New.Flat), c.New.Flat),
			sorted(signedText(v.graph, c.New.Flat-c.Base.Flat), c.New.Flat-c.Base.Flat),
		})
	}
	var svg bytes.Buffer
	if err := flame.WriteDiffSVG(&svg, base.graph, v.graph, v.Kind+" against "+name); err != nil {
		return err
	}
	v.DiffFlame = template.HTML(svg.String())
	return nil
}

func signedText(g *flame.Graph, v float64) string {
	if v < 0 {
		return "-" + g.Text(-v)
	}
	return "+" + g.Text(v)
}
