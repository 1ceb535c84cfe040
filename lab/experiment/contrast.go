package experiment

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/weirhq/weir/internal/yamlfile"
	"github.com/weirhq/weir/lab/results"
)

// Questions returns the contrasts of the experiment, see [Experiment.Contrasts]. It fails where [Experiment.Configurations]
// does.
func (e *Experiment) Questions() ([]results.Contrast, error) {
	cases, err := e.Configurations()
	if err != nil {
		return nil, err
	}
	all, _ := e.contrasts(cases)
	return all, nil
}

// Leading returns the leading metrics.
func (e *Experiment) Leading() []string {
	if len(e.Lead) > 0 {
		return e.Lead
	}
	return results.DefaultLead()
}

// contrasts returns the contrasts of the configurations.
func (e *Experiment) contrasts(cases []Case) (all []results.Contrast, wrong []problem) {
	named, square := e.Contrasts, e.square(cases)
	if len(named) == 0 && square == nil {
		return againstBaseline(cases), nil
	}
	if len(named) == 0 {
		named = square
	}
	for _, text := range named {
		if name, against, ok := strings.Cut(text, separator); ok {
			c, p := pairOf(cases, name, against)
			if p != nil {
				wrong = append(wrong, *p)
			}
			all = append(all, c)
			continue
		}
		within, p := e.within(text, cases)
		if p != nil {
			wrong = append(wrong, *p)
		}
		all = append(all, within...)
	}
	if len(wrong) > 0 {
		return nil, wrong
	}
	if square != nil && slices.Contains(named, square[0]) && slices.Contains(named, square[1]) {
		levels, _ := e.within(square[0], cases)
		than := slices.IndexFunc(levels, func(c results.Contrast) bool { return c.Against == baselineOf(cases).Name })
		interaction := levels[1-than]
		interaction.Than = &levels[than]
		all = append(all, interaction)
	}
	return all, nil
}

// separator is between the configurations of a contrast.
const separator = " against "

func againstBaseline(cases []Case) []results.Contrast {
	var all []results.Contrast
	baseline := baselineOf(cases)
	for _, c := range cases {
		if !c.Baseline && !c.Again {
			all = append(all, results.Contrast{Configuration: c.Name, Against: baseline.Name})
		}
	}
	return all
}

func baselineOf(cases []Case) *Case {
	return &cases[slices.IndexFunc(cases, func(c Case) bool { return c.Baseline })]
}

// square returns the settings of a matrix of two settings with two values each, and nil if the configurations are others
// than their product.
func (e *Experiment) square(cases []Case) []string {
	var settings []string
	for _, d := range e.Matrix {
		switch len(d.Values) {
		case 1:
		case 2:
			settings = append(settings, d.Setting)
		default:
			return nil
		}
	}
	const product, twin = 4, 1
	if len(settings) != 2 || len(e.Include) > 0 || len(cases) != product+twin {
		return nil
	}
	return settings
}

// pairOf returns the contrast of two configurations.
func pairOf(cases []Case, name, against string) (results.Contrast, *problem) {
	var names []string
	for _, c := range cases {
		if !c.Again {
			names = append(names, c.Name)
		}
	}
	for _, n := range []string{name, against} {
		if !slices.Contains(names, n) {
			return results.Contrast{}, &problem{"contrasts", "no configuration is called " + yamlfile.Quote(n),
				yamlfile.RightWord(n, names)}
		}
	}
	return results.Contrast{Configuration: name, Against: against}, nil
}

// within compares the values of a setting with that of the baseline, between configurations that are otherwise alike.
func (e *Experiment) within(setting string, cases []Case) ([]results.Contrast, *problem) {
	var settings []string
	for _, d := range e.Matrix {
		settings = append(settings, d.Setting)
	}
	i := slices.Index(settings, setting)
	if i < 0 {
		hint := "write a setting of the matrix, or two configurations: small against large"
		if right := yamlfile.RightWord(setting, settings); strings.HasPrefix(right, "did") {
			hint = right
		}
		return nil, &problem{"contrasts", "the matrix does not have " + yamlfile.Quote(setting), hint}
	}
	base, _ := labelsWithout(*baselineOf(cases), setting)
	if base == "" {
		base = e.Matrix[i].Values[0].Label
	}
	var all []results.Contrast
	for _, c := range cases {
		label, others := labelsWithout(c, setting)
		if c.Again || label == base {
			continue
		}
		for _, against := range cases {
			if of, same := labelsWithout(against, setting); of == base && !against.Again && maps.Equal(same, others) {
				all = append(all, results.Contrast{Configuration: c.Name, Against: against.Name})
			}
		}
	}
	if len(all) == 0 {
		return nil, &problem{"contrasts", fmt.Sprintf("no two configurations differ only in %s", yamlfile.Quote(setting)),
			"remove it"}
	}
	return all, nil
}

// labelsWithout returns the label of a setting, and the other labels.
func labelsWithout(c Case, setting string) (label string, others map[string]string) {
	others = map[string]string{}
	for _, l := range c.Labels {
		if l.Setting == setting {
			label = l.Value
		} else {
			others[l.Setting] = l.Value
		}
	}
	return label, others
}
