package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/weirhq/weir/front"
)

type checkCmd struct {
	File string `arg:"" help:"The configuration."`
	JSON bool   `name:"json" help:"Print the mistakes as JSON."`
}

// Help implements kong.HelpProvider.
func (checkCmd) Help() string {
	return `Every mistake is printed to stdout, one a line, as file:line:col: what is wrong; what to do. Nothing is
bound, opened or dialled. Exits with 1 when there is a mistake.

Example:
  weir check weir.yaml`
}

// Run checks the file.
func (c *checkCmd) Run(s streams) error {
	src, err := os.ReadFile(c.File)
	if err != nil {
		return &problem{err: err, hint: "weir check FILE, for example weir check weir.yaml", code: exitMisuse}
	}
	cfg, err := front.ParseConfig(c.File, src, os.LookupEnv)
	var mistakes front.Mistakes
	if err != nil && !errors.As(err, &mistakes) {
		return err
	}
	if c.JSON {
		if err := printMistakes(s, mistakes); err != nil {
			return err
		}
	}
	if len(mistakes) == 0 {
		if !c.JSON {
			fmt.Fprintf(s.out, "%s: %d routes to %d upstreams, no mistake\n", c.File, len(cfg.Routes), len(cfg.Upstreams))
		}
		return nil
	}
	if !c.JSON {
		fmt.Fprintln(s.out, mistakes)
	}
	return errFound
}

// errFound ends a verb that found what it was asked to look for, and has said
// so already.
var errFound = errors.New("mistakes were found")

func printMistakes(s streams, mistakes front.Mistakes) error {
	if mistakes == nil {
		mistakes = front.Mistakes{}
	}
	enc := json.NewEncoder(s.out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(map[string]any{"mistakes": mistakes})
}
