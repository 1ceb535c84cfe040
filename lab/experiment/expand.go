package experiment

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/weirhq/weir/internal/yamlfile"
)

// The names that the texts of an experiment may contain as ${name}; see
// [Service].
var (
	runNames   = []string{"port", "dir", "weir", "repo", "build"}
	buildNames = []string{"weir", "repo", "build"} // there is no run yet
)

// expand returns text with ${name} replaced by values[name], and $$ by a
// dollar. An unknown name is an error.
func expand(text string, values map[string]string) (string, error) {
	expanded, wrong := yamlfile.Expand(text, func(name string) (string, *yamlfile.Refusal) {
		value, ok := values[name]
		if !ok {
			return "", unknownName(name, runNames)
		}
		return value, nil
	})
	if len(wrong) > 0 {
		return "", fmt.Errorf("%q: %s; %s", text, wrong[0].What, wrong[0].Hint)
	}
	return expanded, nil
}

// expandAll expands a list and returns a new one; nil stays nil.
func expandAll[L ~[]string](texts L, values map[string]string) (L, error) {
	if texts == nil {
		return nil, nil
	}
	expanded := make(L, len(texts))
	var errs []error
	for i, text := range texts {
		var err error
		expanded[i], err = expand(text, values)
		errs = append(errs, err)
	}
	return expanded, errors.Join(errs...)
}

// Expand is [Case.Expand] for a command of the build.
func (c Command) Expand(values map[string]string) (Command, error) { return expandAll(c, values) }

// checkNames returns the mistake for which expand would refuse a text, given
// the names that will have values.
func checkNames(text string, names []string) *yamlfile.Refusal {
	_, wrong := yamlfile.Expand(text, func(name string) (string, *yamlfile.Refusal) {
		if !slices.Contains(names, name) {
			return "", unknownName(name, names)
		}
		return "", nil
	})
	if len(wrong) > 0 {
		return wrong[0]
	}
	return nil
}

func unknownName(name string, names []string) *yamlfile.Refusal {
	hint := yamlfile.RightWord(name, names)
	if !strings.HasPrefix(hint, "did") {
		hint += ", and $$ is a dollar"
	}
	return yamlfile.Refuse(hint, "nothing is called %s here", yamlfile.Quote("${"+name+"}"))
}

// Expand returns the case with ${name} replaced by values[name], and $$ by a
// dollar, in all texts of its service and its load. The result shares nothing
// mutable with c. A name without a value is an error.
func (c Case) Expand(values map[string]string) (Case, error) {
	var errs []error
	one := func(field *string) {
		var err error
		*field, err = expand(*field, values)
		errs = append(errs, err)
	}
	all := func(field *[]string) {
		var err error
		*field, err = expandAll(*field, values)
		errs = append(errs, err)
	}
	all((*[]string)(&c.Service.Command))
	all(&c.Service.Args)
	env := make(map[string]string, len(c.Service.Env))
	for name, value := range c.Service.Env {
		one(&value)
		env[name] = value
	}
	c.Service.Env = env
	for _, field := range []*string{&c.Service.Dir, &c.Service.URL, &c.Service.Ready, &c.Service.Go} {
		one(field)
	}
	for _, f := range c.Load.Fields() {
		switch field := f.Value.(type) {
		case *string:
			one(field)
		case *[]string:
			all(field)
		}
	}
	return c, errors.Join(errs...)
}
