package experiment

import (
	"reflect"
	"time"

	"github.com/weirhq/weir/internal/yamlfile"
	"github.com/weirhq/weir/load/settings"
)

func showList(words []string) *yamlfile.Node {
	if len(words) == 0 {
		return nil
	}
	return yamlfile.Of(words)
}

func showBuild(t target) *yamlfile.Node {
	if len(t.experiment.Build) == 0 {
		return nil
	}
	commands := &yamlfile.Node{Kind: yamlfile.List}
	for _, command := range t.experiment.Build {
		commands.Items = append(commands.Items, yamlfile.Of([]string(command)))
	}
	return commands
}

func showEnv(t target) *yamlfile.Node {
	if len(t.service.Env) == 0 {
		return nil
	}
	return yamlfile.Of(t.service.Env)
}

// showLoad returns the node of a setting of the load, or nil for its zero
// value.
func showLoad(load *settings.Settings, name string) *yamlfile.Node {
	for _, f := range load.Fields() {
		if f.Name != name {
			continue
		}
		switch field := f.Value.(type) {
		case *[]string:
			return showList(*field)
		case *time.Duration:
			if *field != 0 {
				return yamlfile.Of(showTime(*field))
			}
		default:
			if v := reflect.ValueOf(field).Elem(); !v.IsZero() {
				return yamlfile.Of(v.Interface())
			}
		}
	}
	return nil
}

func showMatrix(t target) *yamlfile.Node {
	if len(t.experiment.Matrix) == 0 {
		return nil
	}
	m := &yamlfile.Node{Kind: yamlfile.Mapping}
	for _, d := range t.experiment.Matrix {
		m.Add(d.Setting, showDimension(d))
	}
	return m
}

// showDimension returns a list if all labels are the default ones, otherwise a
// mapping.
func showDimension(d Dimension) *yamlfile.Node {
	values := &yamlfile.Node{Kind: yamlfile.List}
	labels := &yamlfile.Node{Kind: yamlfile.Mapping}
	plain := true
	for _, c := range d.Values {
		value := yamlfile.Of(c.Value)
		plain = plain && c.About == "" && c.Label == labelOf(c.Value)
		values.Items = append(values.Items, value)
		if c.About != "" {
			explained := &yamlfile.Node{Kind: yamlfile.Mapping}
			explained.Add("value", value)
			explained.Add("about", yamlfile.Of(c.About))
			value = explained
		}
		labels.Add(c.Label, value)
	}
	if plain {
		return values
	}
	return labels
}

func showExclude(t target) *yamlfile.Node {
	if len(t.experiment.Exclude) == 0 {
		return nil
	}
	all := &yamlfile.Node{Kind: yamlfile.List}
	for _, labels := range t.experiment.Exclude {
		all.Items = append(all.Items, yamlfile.Of(labels))
	}
	return all
}

func showInclude(t target) *yamlfile.Node {
	if len(t.experiment.Include) == 0 {
		return nil
	}
	all := &yamlfile.Node{Kind: yamlfile.List}
	for _, a := range t.experiment.Include {
		n := &yamlfile.Node{Kind: yamlfile.Mapping}
		n.Add("name", yamlfile.Of(a.Name))
		if a.About != "" {
			n.Add("about", yamlfile.Of(a.About))
		}
		if len(a.Settings) > 0 {
			n.Add("set", showSettings(a.Settings))
		}
		all.Items = append(all.Items, n)
	}
	return all
}

func showSettings(settings []Setting) *yamlfile.Node {
	n := &yamlfile.Node{Kind: yamlfile.Mapping}
	for _, s := range settings {
		n.Add(s.Path, yamlfile.Of(s.Value))
	}
	return n
}

func showBaseline(t target) *yamlfile.Node {
	labels := t.experiment.Baseline
	if name, ok := labels[nameLabel]; ok {
		return yamlfile.Of(name)
	}
	if len(labels) == 0 {
		return nil
	}
	return yamlfile.Of(labels)
}

func showQuick(t target) *yamlfile.Node {
	if len(t.experiment.Quick) == 0 {
		return nil
	}
	return showSettings(t.experiment.Quick)
}
