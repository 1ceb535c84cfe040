// Package experiments contains the experiments that come with the program, as
// files for package lab/experiment. They are also examples for new ones: each explains its
// settings.
//
//	text, err := experiments.Read("three-events")
//	e, err := experiment.Parse("three-events.yaml", text)
//
// Most of them build the measured service from Weir's sources, which are at
// ${repo}.
package experiments

import (
	"embed"
	"fmt"
	"strings"
)

//go:embed *.yaml
var files embed.FS

// Names returns the names of the experiments in alphabetical order.
func Names() []string {
	entries, err := files.ReadDir(".")
	if err != nil {
		panic(err) // reading the root of an embed.FS cannot fail
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	return names
}

// Read returns the file of an experiment.
func Read(name string) ([]byte, error) {
	text, err := files.ReadFile(name + ".yaml")
	if err != nil {
		return nil, fmt.Errorf("there is no built-in experiment %q; there are %s", name, strings.Join(Names(), ", "))
	}
	return text, nil
}
