package serve

import (
	"github.com/weirhq/weir/cmd/weir/internal/cli"
	"github.com/weirhq/weir/front/config"
)

type SchemaCommand struct{}

// Help implements kong.HelpProvider.
func (SchemaCommand) Help() string {
	return `Prints a JSON Schema of the configuration: its keys, their values and what they mean. An editor with
yaml-language-server completes and checks a file whose first line names the schema:
  # yaml-language-server: $schema=weir.schema.json

Example:
  weir schema > weir.schema.json`
}

// Run prints the schema.
func (SchemaCommand) Run(s cli.Streams) error {
	_, err := s.Out.Write(config.JSONSchema())
	return err
}
