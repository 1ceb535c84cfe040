// Package experiments has the experiments that come with the program, as the
// files that package lab parses. They are also the examples to begin one's own
// with: each says what it varies, and why it is set up as it is.
//
//	text, err := experiments.Read("three-events")
//	e, err := lab.Parse("three-events.yaml", text)
//
// Most of them build the service that they measure from Weir's sources, which
// is what ${repo} stands for in them.
package experiments

import (
	"embed"
	"fmt"
	"strings"
)

//go:embed *.yaml
var files embed.FS

// Names returns what the experiments are called, in the order of the alphabet.
func Names() []string {
	entries, err := files.ReadDir(".")
	if err != nil {
		panic(err) // the root of an embed.FS can be read
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
