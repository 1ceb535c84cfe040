package labcmd

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
	"github.com/weirhq/weir/experiments"
	"github.com/weirhq/weir/internal/nearest"
	"github.com/weirhq/weir/lab/experiment"
)

type listCommand struct {
	JSON bool `name:"json" help:"Print a JSON document, with the question of each."`
}

type listed struct {
	Name     string `json:"name"`
	Title    string `json:"title"`
	Question string `json:"question"`
}

// Run prints the built-in experiments.
func (c *listCommand) Run(s cli.Streams) error {
	var all []listed
	for _, name := range experiments.Names() {
		text, err := experiments.Read(name)
		if err != nil {
			return err
		}
		e, err := experiment.Parse(name+".yaml", text)
		if err != nil {
			return err
		}
		all = append(all, listed{name, e.Title, e.Question})
	}
	if c.JSON {
		return cli.PrintJSON(s.Out, all)
	}
	for _, l := range all {
		fmt.Fprintf(s.Out, "%-14s %s\n", l.Name, l.Title)
	}
	return nil
}

// An experimentName is the name of a built-in experiment, or a file.
type experimentName string

// Completions has the built-in experiments, for the completion of shells.
func (experimentName) Completions() []string { return experiments.Names() }

type showCommand struct {
	Name experimentName `arg:"" help:"An experiment of weir lab list."`
}

// Help implements kong.HelpProvider.
func (showCommand) Help() string {
	return `Start an experiment of your own as a copy of a similar one:

  weir lab show log-cost > mine.yaml
  weir lab run mine.yaml -- ./my-service`
}

// Run prints the file.
func (c *showCommand) Run(s cli.Streams) error {
	text, err := experiments.Read(string(c.Name))
	if err != nil {
		err := fmt.Errorf("no built-in experiment is called %s", c.Name)
		return cli.Misuse(err, nearExperiment(strings.TrimSuffix(string(c.Name), ".yaml"), "weir lab show "))
	}
	_, err = s.Out.Write(text)
	return err
}

// readExperiment reads the built-in experiment called name, or else the file.
func readExperiment(name string) (*experiment.Experiment, error) {
	file := name + ".yaml"
	text, err := experiments.Read(name)
	if err != nil {
		file = name
		text, err = os.ReadFile(name)
	}
	if err != nil {
		return nil, noExperiment(name, err)
	}
	e, err := experiment.Parse(file, text)
	if err != nil {
		return nil, cli.Misuse(err, "weir lab show gc prints an example, and docs/lab.md describes every key")
	}
	return e, nil
}

// noExperiment returns the error for a name that is neither a built-in experiment
// nor a readable file.
func noExperiment(name string, err error) error {
	const run = "weir lab run "
	switch {
	case isFolder(name):
		err = fmt.Errorf("%s is a folder, not an experiment", name)
		return cli.Misuse(err, run+filepath.Join(name, "mine.yaml"))
	case !errors.Is(err, os.ErrNotExist):
		return err
	}
	err = fmt.Errorf("no experiment or file is called %s", name)
	if _, statErr := os.Stat(name + ".yaml"); statErr == nil {
		return cli.Misuse(err, run+name+".yaml")
	}
	return cli.Misuse(err, nearExperiment(name, run))
}

// nearExperiment returns the command with the built-in experiment nearest to name.
func nearExperiment(name, verb string) string {
	if near := nearest.Guess(name, experiments.Names()); near != "" {
		return verb + near
	}
	return "weir lab list"
}
