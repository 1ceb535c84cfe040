package experiment

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weirhq/weir/internal/yamlfile"
)

// check notes the mistakes that are only visible when all of the file has been
// read.
func (t target) check(f *yamlfile.File) {
	e := t.experiment
	for i, exclude := range e.Exclude {
		t.checkLabels(f, exclude, fmt.Sprintf("exclude[%d]", i))
	}
	if _, named := e.Baseline[nameLabel]; !named && !e.included() {
		t.checkLabels(f, e.Baseline, "baseline")
	}
	if f.Err() != nil {
		return
	}
	_, wrong := e.cases()
	for _, p := range wrong {
		f.Mistakef(t.where(p.where), p.hint, "%s", p.what)
	}
	if len(wrong) > 0 {
		return
	}
	short := *e
	err := short.Shorten()
	if err == nil {
		if _, wrong := short.cases(); len(wrong) > 0 {
			err = wrong[0]
		}
	}
	if err != nil {
		what, _, _ := strings.Cut(err.Error(), "\n")
		f.Mistakef(t.where("quick"), "", "the short experiment: %s", what)
	}
}

// included reports whether an addition has settings of its own, which the
// baseline may name.
func (e *Experiment) included() bool {
	return slices.ContainsFunc(e.Include, func(a Addition) bool { return len(a.Settings) > 0 })
}

// checkLabels notes labels that the matrix does not have.
func (t target) checkLabels(f *yamlfile.File, labels map[string]string, name string) {
	var paths []string
	for _, d := range t.experiment.Matrix {
		paths = append(paths, d.Setting)
	}
	for path, label := range labels {
		at := t.where(name + "." + path)
		i := slices.Index(paths, path)
		switch {
		case len(paths) == 0:
			f.Mistakef(at, "write a matrix, or remove it", "there is no matrix that has %s", yamlfile.Quote(path))
			continue
		case i < 0:
			f.Mistakef(at, yamlfile.RightWord(path, paths), "the matrix does not have %s", yamlfile.Quote(path))
			continue
		}
		var has []string
		for _, c := range t.experiment.Matrix[i].Values {
			has = append(has, c.Label)
		}
		if !slices.Contains(has, label) {
			f.Mistakef(at, yamlfile.RightWord(label, has), "%s has no label %s in the matrix", path,
				yamlfile.Quote(label))
		}
	}
}
