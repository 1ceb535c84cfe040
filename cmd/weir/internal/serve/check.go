package serve

import (
	"errors"
	"fmt"
	"io"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
	"github.com/weirhq/weir/front"
	"github.com/weirhq/weir/front/config"
)

type CheckCommand struct {
	fileOption
	JSON bool `name:"json" help:"Print the mistakes, and the explanation, as a JSON document."`
	explainOptions
}

// Help implements kong.HelpProvider.
func (CheckCommand) Help() string {
	return `Prints every mistake to stdout, one per line, as

  FILE:LINE:COL: the mistake; how to correct it

and exits with 1 if there is one, or else with 0. It also checks the files that it names: included files,
redirects, lists of servers, credentials and certificates, and prints the end of each certificate. It opens no listener,
no connection and no log; the log's folder has to exist.

A warning does not change the exit code. It is about a value that is valid and probably a mistake, such as a host without
a dot, an unknown method, an upstream without a route, or a certificate that is not valid now.

With --explain, it prints the routes whose patterns match a request, in the order in which they are tried, the reason
for the choice, the keys of the chosen route, and what the front door does with the request.

Examples:
  weir check weir.yaml
  weir check weir.yaml --explain 'GET https://shop.example/a?b' -H 'X-Beta: 1'`
}

// Run checks the file.
func (c *CheckCommand) Run(s cli.Streams) error {
	if err := c.require("check"); err != nil {
		return err
	}
	cfg, err := readAll(c.Config)
	var mistakes config.Mistakes
	if err != nil && !errors.As(err, &mistakes) {
		return err
	}
	document := map[string]any{"mistakes": append(config.Mistakes{}, mistakes...)} // [] and not null
	if cfg != nil {
		document["warnings"] = append(config.Mistakes{}, cfg.Warnings...)
		document["certificates"] = certificatesOf(cfg)
	}
	var explanation *front.Explanation
	if c.Explain != "" && len(mistakes) == 0 {
		if explanation, err = c.explain(cfg); err != nil {
			return err
		}
		document["explanation"] = explanation
	}
	switch {
	case c.JSON:
		if err := cli.PrintJSON(s.Out, document); err != nil {
			return err
		}
	case explanation != nil:
		printExplanation(s.Out, explanation)
	case len(mistakes) == 0:
		fmt.Fprintln(s.Out, cli.Printable(fmt.Sprintf("%s: no mistakes; %s", c.Config, contents(cfg))))
		printWarnings(s.Out, "", cfg.Warnings)
		printCertificates(s.Out, cfg)
	default:
		for _, m := range mistakes {
			fmt.Fprintln(s.Out, cli.Printable(m.Error()))
		}
	}
	if len(mistakes) > 0 {
		return cli.ErrReported
	}
	return nil
}

// printWarnings prints a line for each warning.
func printWarnings(w io.Writer, prefix string, all config.Mistakes) {
	for _, m := range all {
		fmt.Fprintln(w, cli.Printable(fmt.Sprintf("%s%s:%d:%d: warning: %s; %s", prefix, m.File, m.Line, m.Col, m.What, m.Hint)))
	}
}

// contents returns the counts of a configuration, such as "routes: 2, upstreams: 1".
func contents(cfg *config.Config) string {
	text := fmt.Sprintf("routes: %d, upstreams: %d", len(cfg.Routes), len(cfg.Upstreams))
	if n := len(cfg.Redirects); n > 0 {
		text += fmt.Sprintf(", redirects: %d", n)
	}
	if cfg.TLS != nil {
		text += fmt.Sprintf(", certificates: %d", len(cfg.TLS.Certificates))
	}
	if len(cfg.Include) > 0 {
		text += fmt.Sprintf(", files: %d", len(cfg.Sources))
	}
	return text
}
