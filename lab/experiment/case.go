package experiment

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/weirhq/weir/internal/yamlfile"
	"github.com/weirhq/weir/lab/results"
	"github.com/weirhq/weir/load/settings"
)

// maxConfigurations is the number of configurations that an experiment may
// have, without the baseline's twin. Each is run many times.
const maxConfigurations = 200

// Configurations returns the configurations to compare: the product of the
// matrix, in which the last dimension changes fastest, without Exclude, then
// Include, and at the end the baseline's twin. The order is always the same,
// and the names are unique. There may be 200 of them, not counting the twin.
//
// The error names every configuration that is invalid. The cases share nothing
// mutable with the experiment.
func (e *Experiment) Configurations() ([]Case, error) {
	cases, wrong := e.cases()
	for _, c := range cases {
		wrong = append(wrong, unfit(&c.Service)...) // of a draft in a file, a command may be missing still
	}
	wrong = withoutDoubles(wrong)
	if len(wrong) > 0 {
		errs := make([]error, len(wrong))
		for i, p := range wrong {
			errs[i] = p
		}
		return nil, errors.Join(errs...)
	}
	return cases, nil
}

// A problem is a mistake in an experiment. Its place is a name in
// target.positions.
type problem struct{ where, what, hint string }

func (p problem) Error() string {
	text := p.where + ": " + p.what
	if p.hint != "" {
		text += "; " + p.hint
	}
	return text
}

// A draft is an unfinished case with the places of its settings.
type draft struct {
	Case
	labels    map[string]string
	positions map[string]string // by setting; "" is the case itself
}

// cases returns the configurations and their problems.
func (e *Experiment) cases() ([]Case, []problem) {
	drafts, wrong := e.product()
	more, alsoWrong := e.additions()
	drafts, wrong = append(drafts, more...), append(wrong, alsoWrong...)
	if len(wrong) > 0 {
		return nil, wrong
	}
	switch {
	case len(drafts) == 0:
		return nil, []problem{{"exclude", "every configuration is excluded", "remove one, or add one to include"}}
	case len(drafts) > maxConfigurations:
		many := fmt.Sprintf("%d configurations are too many: %d are the most", len(drafts), maxConfigurations)
		return nil, []problem{{"include", many, "remove some"}}
	}
	cases := make([]Case, len(drafts), len(drafts)+1)
	for i, d := range drafts {
		wrong = append(wrong, e.checkCase(d)...)
		cases[i] = d.Case
	}
	baseline, p := e.findBaseline(drafts)
	if p != nil {
		wrong = append(wrong, *p)
	}
	if wrong = append(wrong, sameNames(drafts)...); len(wrong) > 0 {
		return nil, withoutDoubles(wrong)
	}
	cases[baseline].Baseline = true
	twin := cases[baseline]
	twin.Name, twin.Baseline, twin.Again = twin.Name+" (again)", false, true
	if slices.ContainsFunc(cases, func(c Case) bool { return c.Name == twin.Name }) {
		return nil, []problem{{"include", "the baseline's twin is called " + yamlfile.Quote(twin.Name) + " itself",
			"give it another name"}}
	}
	cases = append(cases, twin)
	if _, wrong = e.contrasts(cases); len(wrong) > 0 {
		return nil, wrong
	}
	return cases, nil
}

// product returns the configurations of the matrix.
func (e *Experiment) product() ([]draft, []problem) {
	if len(e.Matrix) == 0 && len(e.Include) > 0 {
		return nil, nil
	}
	all, wrong := e.combinations()
	if wrong != nil {
		return nil, []problem{*wrong}
	}
	names := dimensionNames(e.Matrix)
	var drafts []draft
	var problems []problem
	for _, choices := range all {
		d, wrong := e.draft(choices, names)
		drafts, problems = append(drafts, d), append(problems, wrong...)
	}
	return drafts, withoutDoubles(problems)
}

// combinations returns the configurations of the matrix that are not excluded,
// each as an index per dimension.
func (e *Experiment) combinations() ([][]int, *problem) {
	const most = 100 * maxConfigurations // many may be excluded
	size := 1
	for _, d := range e.Matrix {
		if len(d.Values) == 0 {
			return nil, &problem{"matrix." + d.Setting, "it has no values", "give it some, or remove it"}
		}
		if size *= len(d.Values); size > most {
			return nil, &problem{"matrix", fmt.Sprintf("the configurations are too many: more than %d", most),
				"give it fewer values"}
		}
	}
	var all [][]int
	for i := range size {
		if choices := e.choices(i, size); !e.excludes(choices) {
			all = append(all, choices)
		}
	}
	if len(all) > maxConfigurations {
		many := fmt.Sprintf("%d configurations are too many: %d are the most", len(all), maxConfigurations)
		return nil, &problem{"matrix", many, "exclude some"}
	}
	return all, nil
}

// choices returns the configuration at index i of the product, as an index per
// dimension.
func (e *Experiment) choices(i, size int) []int {
	choices := make([]int, len(e.Matrix))
	for k, d := range e.Matrix {
		size /= len(d.Values)
		choices[k] = i / size
		i %= size
	}
	return choices
}

// excludes reports whether a configuration of the product is excluded.
func (e *Experiment) excludes(choices []int) bool {
	labels := map[string]string{}
	for k, d := range e.Matrix {
		labels[d.Setting] = d.Values[choices[k]].Label
	}
	return slices.ContainsFunc(e.Exclude, func(exclude map[string]string) bool { return fits(labels, exclude) })
}

// fits reports whether labels contains all of wanted.
func fits(labels, wanted map[string]string) bool {
	for setting, label := range wanted {
		if has, ok := labels[setting]; !ok || has != label {
			return false
		}
	}
	return true
}

// draft returns a configuration of the product.
func (e *Experiment) draft(choices []int, names []string) (draft, []problem) {
	d := e.newDraft("matrix")
	var wrong []problem
	var parts, abouts []string
	for k, dimension := range e.Matrix {
		choice := dimension.Values[choices[k]]
		where := fmt.Sprintf("matrix.%s[%d]", dimension.Setting, choices[k])
		if p := d.set(Setting{dimension.Setting, choice.Value}, choice.Label, where); p != nil {
			wrong = append(wrong, *p)
		}
		if len(dimension.Values) > 1 {
			parts = append(parts, names[k]+choice.Label)
		}
		if choice.About != "" {
			abouts = append(abouts, choice.About)
		}
	}
	d.Name = cmp.Or(strings.Join(parts, " "), "unchanged")
	d.About = strings.Join(abouts, "; ")
	return d, wrong
}

func (e *Experiment) newDraft(stands string) draft {
	d := draft{labels: map[string]string{}, positions: map[string]string{"": stands}}
	d.Service, d.Load = e.Service, e.Load
	d.Load.Folder = cmp.Or(d.Load.Folder, e.Folder)
	return d
}

// set sets a setting of a case.
func (d *draft) set(s Setting, label, where string) *problem {
	f, _ := yamlfile.Read("", "a value", nil)
	r := newReader(f)
	if refused := settable(r, s.Path, false); refused != nil {
		return &problem{where, refused.What, refused.Hint}
	}
	t := target{experiment: &Experiment{}, service: &d.Service, load: &d.Load}
	readSetting(r, t, s.Path, yamlfile.Pos{}, yamlfile.Of(s.Value))
	if wrong := f.Mistakes(); len(wrong) > 0 {
		return &problem{where, wrong[0].What, wrong[0].Hint}
	}
	d.Labels = append(d.Labels, results.Label{Setting: s.Path, Value: label})
	d.labels[s.Path], d.positions[s.Path] = label, where
	return nil
}

// additions returns the configurations of Include.
func (e *Experiment) additions() (drafts []draft, wrong []problem) {
	for i, a := range e.Include {
		where := fmt.Sprintf("include[%d]", i)
		d := e.newDraft(where)
		d.Name, d.About = a.Name, a.About
		if a.Name == "" {
			wrong = append(wrong, problem{where, "it has no name", "name the configuration"})
		}
		for _, s := range a.Settings {
			if p := d.set(s, e.labelIn(s), where+"."+s.Path); p != nil {
				wrong = append(wrong, *p)
			}
		}
		drafts = append(drafts, d)
	}
	return drafts, wrong
}

// labelIn returns the label that the matrix has for a setting's value, or the
// default label.
func (e *Experiment) labelIn(s Setting) string {
	own := labelOf(s.Value)
	for _, d := range e.Matrix {
		for _, c := range d.Values {
			if d.Setting == s.Path && labelOf(c.Value) == own {
				return c.Label
			}
		}
	}
	return own
}

// dimensionNames returns the prefixes of labels in names: "output=". A prefix
// is the last part of the setting's path, or all of it if two have the same
// last part. The words of the service have none, because they are clear without
// it.
func dimensionNames(matrix []Dimension) []string {
	names := make([]string, len(matrix))
	count := map[string]int{}
	for i, d := range matrix {
		names[i] = d.Setting[strings.LastIndexByte(d.Setting, '.')+1:] + "="
		if variable, ok := strings.CutPrefix(d.Setting, "service.env."); ok {
			names[i] = variable + "="
		}
		count[names[i]]++
	}
	for i, d := range matrix {
		switch {
		case d.Setting == "service.command" || d.Setting == "service.args":
			names[i] = ""
		case count[names[i]] > 1:
			names[i] = d.Setting + "="
		}
	}
	return names
}

// checkCase returns the problems of a configuration as a whole.
func (e *Experiment) checkCase(d draft) (wrong []problem) {
	var bad *settings.Error
	if err := d.Load.Check(); errors.As(err, &bad) {
		path := "load." + bad.Setting
		wrong = append(wrong, problem{cmp.Or(d.positions[path], path), bad.Setting + ": " + bad.Err.Error(), bad.Hint})
	}
	if d.Service.PID != 0 || d.Service.Cgroup != "" {
		for _, p := range unfit(&d.Service) {
			p.where = withoutIndex(cmp.Or(d.positions[p.where], p.where))
			wrong = append(wrong, p)
		}
	}
	if len(e.Profiles) > 0 && d.Service.Go == "" {
		wrong = append(wrong, problem{"profiles", "profiles are of a Go service, and service.go does not say where " +
			"it shows them", "write where, as in: service: {go: /debug}"})
	}
	return wrong
}

// withoutIndex returns the place of a dimension for that of one of its values, all of which have the same problem.
func withoutIndex(where string) string {
	if i := strings.LastIndexByte(where, '['); i >= 0 && strings.HasSuffix(where, "]") {
		return where[:i]
	}
	return where
}

// findBaseline returns the index of the first configuration that matches
// Baseline.
func (e *Experiment) findBaseline(drafts []draft) (int, *problem) {
	for i, d := range drafts {
		if name, ok := e.Baseline[nameLabel]; ok && name == d.Name || !ok && fits(d.labels, e.Baseline) {
			return i, nil
		}
	}
	names := make([]string, len(drafts))
	for i, d := range drafts {
		names[i] = d.Name
	}
	const most = 8
	hint := "it may be one of " + strings.Join(names[:min(len(names), most)], ", ")
	if len(names) > most {
		hint += ", …"
	}
	if name := e.Baseline[nameLabel]; name != "" {
		if right := yamlfile.RightWord(name, names); strings.HasPrefix(right, "did") {
			hint = right
		}
	}
	return 0, &problem{"baseline", "no configuration is the baseline", hint}
}

// sameNames returns a problem for each configuration with a name that is taken.
func sameNames(drafts []draft) (wrong []problem) {
	first := map[string]bool{}
	for _, d := range drafts {
		if first[d.Name] {
			wrong = append(wrong, problem{d.positions[""], "two configurations are called " + yamlfile.Quote(d.Name),
				"give one another name, or labels"})
		}
		first[d.Name] = true
	}
	return wrong
}

// withoutDoubles removes equal problems, which many configurations may have.
func withoutDoubles(all []problem) []problem {
	var once []problem
	for _, p := range all {
		if !slices.Contains(once, p) {
			once = append(once, p)
		}
	}
	return once
}
