// Package about has the verbs that describe the command itself: weir version, weir completion and weir man.
package about

import (
	"fmt"
	"io"
	"runtime"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/internal/version"
)

// A VersionCommand is weir version.
type VersionCommand struct {
	JSON bool `name:"json" help:"Print a JSON document."`
}

// Help implements kong.HelpProvider.
func (VersionCommand) Help() string {
	return `Prints the version, the commit and its date, the version of Go, the platform, the engine that serves HTTP/1 there unless
the configuration names another, and the modules in this program. The version is "devel" if the build did not record one.
weir --version prints only the first line.

Examples:
  weir version
  weir version --json`
}

// A document is the description of the program.
type document struct {
	version.Info
	Platform string `json:"platform"`
	Engine   string `json:"engine"`
}

// Run prints the description.
func (c *VersionCommand) Run(s cli.Streams) error {
	d := document{version.Get(), runtime.GOOS + "/" + runtime.GOARCH, config.EngineGoroutines}
	if runtime.GOOS == "linux" {
		d.Engine = config.EngineLoops
	}
	if c.JSON {
		return cli.PrintJSON(s.Out, d)
	}
	return cli.Buffered(s.Out, d.print)
}

// print writes the description as text. A line whose value is not known is missing.
func (d document) print(w io.Writer) error {
	fmt.Fprintf(w, "weir %s\n", d.Version)
	for _, line := range []struct{ name, value string }{
		{"commit", d.Commit}, {"date", d.Date}, {"go", d.Go}, {"platform", d.Platform}, {"engine", d.Engine},
	} {
		if line.value != "" {
			fmt.Fprintf(w, "%-9s %s\n", line.name, line.value)
		}
	}
	for _, m := range d.Modules {
		fmt.Fprintf(w, "module    %s %s\n", m.Path, m.Version)
	}
	return nil
}
