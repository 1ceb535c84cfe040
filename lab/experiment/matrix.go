package experiment

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/weirhq/weir/internal/yamlfile"
	"github.com/weirhq/weir/load/settings"
)

// longestLabel is the number of characters that a label may have.
const longestLabel = 60

// scratch returns a target for trying out values.
func scratch() target {
	return target{experiment: &Experiment{}, service: &Service{}, load: &settings.Settings{}}
}

// readDimension reads a key of the matrix: a list of values, or a mapping of
// labels to values.
func readDimension(r *reader, p place, n *yamlfile.Node) {
	path := p.Key.Text
	if refused := settable(r, path, false); refused != nil {
		r.Refuse(p.Key, refused)
		return
	}
	d := Dimension{Setting: path}
	p.To.setPosition("matrix."+path, p.Key.Pos)
	if r.RefuseEmpty(p, n) {
		return
	}
	add := func(label string, at yamlfile.Pos, value *yamlfile.Node) {
		c := readChoice(r, path, value)
		c.Label = label
		if label == "" {
			c.Label = labelOf(c.Value)
		}
		if refused := checkLabel(c.Label, d.Values); refused != nil {
			r.Mistakef(at, refused.Hint, "%s", refused.What)
			return
		}
		p.To.setPosition(fmt.Sprintf("matrix.%s[%d]", path, len(d.Values)), at)
		d.Values = append(d.Values, c)
	}
	if n.Kind == yamlfile.Mapping {
		for _, pair := range n.Pairs {
			if pair.Key.Text == "" {
				r.Mistakef(pair.Key.Pos, "give the value a name", "the label is empty")
				continue
			}
			add(pair.Key.Text, pair.Key.Pos, pair.Value)
		}
	} else {
		for _, item := range r.Elements(p, n) {
			add("", item.Pos, item)
		}
	}
	p.To.experiment.setDimension(d)
}

// setDimension replaces the dimension of the same setting, or adds one.
func (e *Experiment) setDimension(d Dimension) {
	e.Matrix = slices.Clone(e.Matrix) // another copy of the experiment may share it
	if i := slices.IndexFunc(e.Matrix, func(old Dimension) bool { return old.Setting == d.Setting }); i >= 0 {
		e.Matrix[i] = d
		return
	}
	e.Matrix = append(e.Matrix, d)
}

// readChoice reads a value of the setting at path, or {value: ..., about: ...},
// and tries it.
func readChoice(r *reader, path string, n *yamlfile.Node) (c Choice) {
	value, about, others := explainedValue(n)
	switch {
	case value == nil || about == nil:
		value = n
	case len(others) > 0:
		r.Mistakef(others[0].Key.Pos, "put quotes around a text that has a comma", "%s is neither value nor about",
			yamlfile.Quote(others[0].Key.Text))
	default:
		text, refused := parseProse(about.Scalar())
		if refused != nil {
			r.Mistakef(about.Pos, refused.Hint, "about: %s", refused.What)
		}
		c.About = text
	}
	readSetting(r, scratch(), path, value.Pos, value)
	c.Value = value.Value()
	return c
}

// explainedValue splits {value: ..., about: ...}.
func explainedValue(n *yamlfile.Node) (value, about *yamlfile.Node, others []yamlfile.Pair) {
	for _, pair := range n.Pairs {
		switch pair.Key.Text {
		case "value":
			value = pair.Value
		case "about":
			about = pair.Value
		default:
			others = append(others, pair)
		}
	}
	return value, about, others
}

// labelOf returns the default label of a value.
func labelOf(value any) string { return cmp.Or(labelOfNode(yamlfile.Of(value)), "none") }

func labelOfNode(n *yamlfile.Node) string {
	var parts []string
	switch n.Kind {
	case yamlfile.List:
		for _, item := range n.Items {
			parts = append(parts, labelOfNode(item))
		}
	case yamlfile.Mapping:
		for _, pair := range n.Pairs {
			parts = append(parts, pair.Key.Text+"="+labelOfNode(pair.Value))
		}
	case yamlfile.Single:
		return n.Text
	default:
		return "null"
	}
	return strings.Join(parts, " ")
}

// checkLabel returns the mistake in a label that is added to others.
func checkLabel(label string, beside []Choice) *yamlfile.Refusal {
	switch {
	case utf8.RuneCountInString(label) > longestLabel:
		return yamlfile.Refuse("give it a label, as in: {short: "+yamlfile.Quote(label)[:20]+"…}",
			"%s is too long a label: %d characters are the most", yamlfile.Quote(label), longestLabel)
	case yamlfile.Printable(label) != label:
		return yamlfile.Refuse("give it a label, as in: {label: value}", "%s has characters that a label cannot have",
			yamlfile.Quote(label))
	case slices.ContainsFunc(beside, func(c Choice) bool { return c.Label == label }):
		return yamlfile.Refuse("keep one of the two", "the label %s is given twice", yamlfile.Quote(label))
	}
	return nil
}

// readExclude reads a list of mappings of settings to labels.
func readExclude(r *reader, p place, n *yamlfile.Node) {
	e := p.To.experiment
	e.Exclude = nil
	for _, element := range r.Elements(p, n) {
		name := fmt.Sprintf("exclude[%d]", len(e.Exclude))
		p.To.setPosition(name, element.Pos)
		e.Exclude = append(e.Exclude, readLabels(r, p, element, name))
	}
}

// readLabels reads a mapping of settings to labels.
func readLabels(r *reader, p place, n *yamlfile.Node, name string) map[string]string {
	labels := map[string]string{}
	if n.Kind != yamlfile.Mapping {
		if n.Kind != yamlfile.Bad {
			r.Mistakef(n.Pos, "write settings and labels of the matrix, as in {service.output: terminal}",
				"this says nothing about configurations")
		}
		return labels
	}
	if len(n.Pairs) == 0 {
		r.Mistakef(n.Pos, "write settings and labels of the matrix, as in {service.output: terminal}",
			"this is every configuration")
	}
	for _, pair := range n.Pairs {
		p.To.setPosition(name+"."+pair.Key.Text, pair.Value.Pos)
		labels[pair.Key.Text] = labelOf(pair.Value.Value())
	}
	return labels
}

// readBaseline reads labels, or the name of a configuration.
func readBaseline(r *reader, p place, n *yamlfile.Node) {
	p.To.setPosition("baseline", n.Pos)
	if n.Kind == yamlfile.Single {
		p.To.experiment.Baseline = map[string]string{nameLabel: n.Text}
		return
	}
	p.To.experiment.Baseline = readLabels(r, p, n, "baseline")
}

// nameLabel is the key of Baseline for the name of a configuration.
const nameLabel = "name"

// readInclude reads a list of additions.
func readInclude(r *reader, p place, n *yamlfile.Node) {
	e := p.To.experiment
	e.Include = nil
	for _, element := range r.Elements(p, n) {
		at := p
		at.To.adding = &Addition{}
		p.To.setPosition(fmt.Sprintf("include[%d]", len(e.Include)), element.Pos)
		r.Fields(at.Below("*", yamlfile.Scalar{Pos: element.Pos}), element)
		e.Include = append(e.Include, *at.To.adding)
	}
}

// readAdded reads a setting of an addition.
func readAdded(r *reader, p place, n *yamlfile.Node) {
	a := p.To.adding
	p.To.setPosition(fmt.Sprintf("include[%d].%s", len(p.To.experiment.Include), p.Key.Text), n.Pos)
	if set, ok := trySetting(r, p.Key, n, false); ok {
		a.Settings = append(a.Settings, set)
	}
}

// readQuick reads the settings of the short experiment.
func readQuick(r *reader, p place, n *yamlfile.Node) {
	p.To.experiment.Quick = nil
	p.To.setPosition("quick", n.Pos)
	r.Names(p, n)
}

func readQuickSetting(r *reader, p place, n *yamlfile.Node) {
	p.To.setPosition("quick."+p.Key.Text, n.Pos)
	if p.Key.Text == "name" || p.Key.Text == "quick" || strings.HasPrefix(p.Key.Text, "quick.") {
		r.Mistakef(p.Key.Pos, "remove it", "%s cannot differ when the experiment is short", yamlfile.Quote(p.Key.Text))
		return
	}
	if set, ok := trySetting(r, p.Key, n, true); ok {
		p.To.experiment.Quick = append(p.To.experiment.Quick, set)
	}
}

// trySetting checks a setting with the given path.
func trySetting(r *reader, path yamlfile.Scalar, n *yamlfile.Node, all bool) (Setting, bool) {
	if refused := settable(r, path.Text, all); refused != nil {
		r.Refuse(path, refused)
		return Setting{}, false
	}
	readSetting(r, scratch(), path.Text, path.Pos, n)
	return Setting{path.Text, n.Value()}, true
}
