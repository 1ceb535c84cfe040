package compare

import (
	"cmp"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

const (
	weir    = "weir"
	nginx   = "nginx"
	caddy   = "caddy"
	traefik = "traefik"
	haproxy = "haproxy"
)

// programNames has the programs in the order of the tables.
var programNames = []string{weir, nginx, caddy, traefik, haproxy}

// A row is a row of README.md or of docs/moving.md, or the same row of both.
type row struct {
	readme, moving string // its first cell; "" if the document has no such row
	aspects        string // the names of aspects, with spaces between them
	// cells has the text of a cell in README.md and in docs/moving.md, unless it is "yes", which stands for a program that
	// has all aspects, or "no", for one that has none.
	cells cells
}

// An aspect is a part of what a row claims.
type aspect struct {
	try try
	// mistake is for a configuration with a mistake: a program that has the aspect writes words that match this expression.
	mistake  string
	evidence map[string]evidence // by program
}

// A try tries a program that is running with the evidence's configuration. It returns what it has observed, in a few
// words, and whether the program has the aspect.
type try func(t *testing.T, d *door) (observed string, has bool)

// Evidence is how a cell is known.
type evidence struct {
	conf configuration
	has  bool   // whether the program is expected to have the aspect
	link string // cites a document, and nothing is tried
	try  try    // nil for that of the aspect
}

// has is the evidence that a program has an aspect, with a configuration that uses it.
func has(parts ...string) evidence { return evidence{conf: parts, has: true} }

// lacks is the evidence that a program lacks an aspect: it rejects the configuration, or does something else.
func lacks(parts ...string) evidence { return evidence{conf: parts} }

// by is the evidence of another try than that of the aspect.
func (e evidence) by(f try) evidence {
	e.try = f
	return e
}

// documented cites a document, or a test of this repository, for an aspect that is not tried.
func documented(has bool, link string) evidence { return evidence{has: has, link: link} }

// text returns the text that the cell of a row must have in a document: 0 is README.md, 1 is docs/moving.md.
func (r row) text(program string, document int) string {
	if text := r.cells[program][document]; text != "" {
		return text
	}
	has, names := 0, strings.Fields(r.aspects)
	for _, name := range names {
		if aspects()[name].evidence[program].has {
			has++
		}
	}
	switch has {
	case len(names):
		return "yes"
	case 0:
		return "no"
	}
	return "a text of its own, because it has some aspects only"
}

// measured has the rows that other targets of the Makefile measure.
var measured = []string{"CPU time per proxied request, relative to nginx"}

// TestEveryCellHasEvidence compares the texts of both tables with the rows of this package, without running a program.
func TestEveryCellHasEvidence(t *testing.T) {
	t.Parallel()
	for i, file := range []string{"README.md", "docs/moving.md"} {
		table := readComparison(t, file)
		if len(table) < 20 {
			t.Errorf("%s: the table has %d rows", file, len(table))
		}
		for _, r := range rows {
			name := []string{r.readme, r.moving}[i]
			if name == "" {
				continue
			}
			for _, p := range programNames {
				if got, want := table[name][p], r.text(p, i); got != want {
					t.Errorf("%s: %s: %s: the cell is %q, the evidence says %q", file, name, p, got, want)
				}
			}
			delete(table, name)
		}
		for name := range table {
			if !slices.Contains(measured, name) {
				t.Errorf("%s: nothing tries the row %q", file, name)
			}
		}
	}
	for name, a := range aspects() {
		for _, p := range programNames {
			if e := a.evidence[p]; e.conf == nil && e.link == "" && e.try == nil {
				t.Errorf("%s has no evidence of %q", p, name)
			}
		}
	}
}

// TestProgramsBehaveAsTheTablesSay tries each aspect with each program, and prints the observations row by row.
func TestProgramsBehaveAsTheTablesSay(t *testing.T) {
	if os.Getenv("WEIR_COMPARE") == "" {
		t.Skip("starts the programs of others for some minutes: make bench-compare")
	}
	selected := regexp.MustCompile(os.Getenv("WEIR_COMPARE_ASPECTS"))
	installed := findPrograms(t)
	var observed sync.Map
	t.Run("aspect", func(t *testing.T) {
		for name, a := range aspects() {
			if !selected.MatchString(name) {
				continue
			}
			for _, p := range programNames {
				t.Run(name+"/"+p, func(t *testing.T) {
					t.Parallel()
					observed.Store(name+" "+p, tryAspect(t, installed[p], a, p))
				})
			}
		}
	})
	fmt.Print(versions(installed))
	for _, r := range rows {
		fmt.Printf("\n%s\n", cmp.Or(r.moving, r.readme))
		for _, p := range programNames {
			fmt.Printf("  %s [%s]\n", p, strings.Join(slices.Compact([]string{r.text(p, 0), r.text(p, 1)}), " | "))
			for _, name := range strings.Fields(r.aspects) {
				if o, ok := observed.Load(name + " " + p); ok {
					fmt.Printf("    %-16s %s\n", name, o)
				}
			}
		}
	}
	fmt.Printf("\nmake bench-proxy measures the rows %q.\n", measured)
}

// tryAspect compares the evidence with an observation, which it returns in words.
func tryAspect(t *testing.T, p *program, a aspect, name string) string {
	t.Helper()
	e := a.evidence[name]
	if e.link != "" {
		return fmt.Sprintf("%-9t cited: %s", e.has, e.link)
	}
	if p == nil {
		return fmt.Sprintf("%-9t not tried: %s is not installed", e.has, name)
	}
	f := a.try
	if e.try != nil {
		f = e.try
	}
	observed, has := p.observe(t, e.conf, f, a.mistake)
	if has != e.has {
		t.Errorf("observed %t, the table says %t: %s", has, e.has, observed)
		return fmt.Sprintf("%-9t DISAGREES: %s", has, observed)
	}
	return fmt.Sprintf("%-9t agrees: %s", has, observed)
}
