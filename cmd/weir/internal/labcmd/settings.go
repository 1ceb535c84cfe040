package labcmd

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
	"github.com/weirhq/weir/lab/experiment"
)

// settingFlags change settings of an experiment.
type settingFlags struct {
	Set      []string `group:"Experiment:" sep:"none" placeholder:"KEY=VALUE" help:"Change a setting of the experiment, such as load.duration=5s. May be repeated."`
	URL      string   `group:"Experiment:" name:"url" placeholder:"URL" help:"The URL of the service (default the first port that it listens on)."`
	Duration string   `group:"Experiment:" short:"d" placeholder:"TIME" help:"Send requests for TIME in each run."`
	Seed     string   `group:"Experiment:" placeholder:"N" help:"Seed for the order of the runs."`
}

// A setting is a key of the experiment and the flag that sets it.
type setting struct{ flag, key, value string }

// apply applies the command that starts the service, other flags that have a
// value, and then these flags.
func (f *settingFlags) apply(e *experiment.Experiment, command []string, others ...setting) error {
	settings, err := f.settings(command, others)
	if err != nil {
		return err
	}
	for _, set := range settings {
		if err := e.Set(set.key, set.value); err != nil {
			return cli.Misuse(fmt.Errorf("%s: %w", set.flag, err), "weir lab run --help")
		}
	}
	return nil
}

// settings returns the settings in the order to apply them.
func (f *settingFlags) settings(command []string, others []setting) ([]setting, error) {
	var list []setting
	if len(command) > 0 {
		list = append(list, setting{"--", "service.command", words(command)})
	}
	if f.URL != "" {
		list = append(list, setting{"--url", "service.url", quoted(f.URL)})
	}
	others = append(others, setting{"--duration", "load.duration", f.Duration}, setting{"--seed", "seed", f.Seed})
	for _, set := range others {
		if set.value != "" {
			list = append(list, set)
		}
	}
	for _, set := range f.Set {
		key, value, ok := strings.Cut(set, "=")
		if !ok {
			return nil, cli.Misuse(fmt.Errorf("--set: %q has no =", set), "--set load.duration=5s")
		}
		list = append(list, setting{"--set", key, value})
	}
	return list, nil
}

// words returns a command as a value of YAML.
func words(command []string) string {
	text, _ := json.Marshal(command) // a list of texts cannot fail
	return string(text)
}

// quoted returns a text as a value of YAML; "" stays "".
func quoted(text string) string {
	if text == "" {
		return ""
	}
	return strconv.Quote(text)
}
