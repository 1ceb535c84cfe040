package loadcmd

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
	"github.com/weirhq/weir/load"
	"github.com/weirhq/weir/load/settings"
)

// misuse returns an error about flags. If hint is "", it is that of the help.
func misuse(hint, format string, args ...any) error {
	return cli.Misuse(fmt.Errorf(format, args...), cmp.Or(hint, "weir load --help"))
}

// plan returns the plan of the URL and the flags.
func (c *sendCommand) plan(flags []*kong.Flag) (load.Plan, error) {
	if err := c.checkURL(); err != nil {
		return load.Plan{}, err
	}
	s, err := readSettings(flags)
	if err != nil {
		return load.Plan{}, aboutFlag(err)
	}
	if len(c.URL) > 0 {
		s.URL = c.URL[0]
	}
	p, err := s.Plan()
	if err != nil {
		return p, aboutFlag(err)
	}
	return p, nil
}

// readSettings returns the settings of the flags on the command line.
func readSettings(flags []*kong.Flag) (settings.Settings, error) {
	given := make(map[string]any)
	for _, f := range flags {
		if f.Set {
			given[f.Name] = f.Target.Interface()
		}
	}
	s := settings.Settings{Stdin: os.Stdin}
	for _, f := range s.Fields() {
		if value, ok := given[flagOf(f.Name)]; ok {
			if err := s.Set(f.Name, value); err != nil {
				return s, err
			}
		}
	}
	return s, nil
}

// flagOf returns the flag of a setting. Repeated flags have the singular name.
func flagOf(setting string) string {
	switch setting {
	case "headers":
		return "header"
	case "stages":
		return "stage"
	}
	return strings.ReplaceAll(setting, "_", "-")
}

// aboutFlag turns an error about a setting into one about its flag.
func aboutFlag(err error) error {
	var wrong *settings.Error
	switch {
	case !errors.As(err, &wrong):
		return misuse("", "%w", err)
	case wrong.Setting == "url":
		return misuse("weir load http://127.0.0.1:8080/", "%w", wrong.Err)
	case wrong.Setting == "duration" && wrong.Hint == "":
		wrong.Hint = durationHint
	}
	return misuse(wrong.Hint, "--%s: %w", flagOf(wrong.Setting), wrong.Err)
}

// checkURL returns an error if there are several arguments.
func (c *sendCommand) checkURL() error {
	switch {
	case len(c.URL) < 2:
		return nil
	case cli.Suggest(c.URL[0], []string{"compare", "gen"}) != "":
		return misuse("", "unexpected argument %s, did you mean %q?", c.URL[0], cli.Suggest(c.URL[0], []string{"compare", "gen"}))
	case c.JSON == "-":
		return misuse("weir load --json="+c.URL[0]+" "+c.URL[1], "%q and %q are two URLs", c.URL[0], c.URL[1])
	}
	return misuse("write both to a file: weir load --requests-file FILE", "%q and %q are two URLs", c.URL[0], c.URL[1])
}
