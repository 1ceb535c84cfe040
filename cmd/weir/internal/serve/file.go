package serve

import (
	"errors"
	"fmt"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
)

// A fileOption is the name of the configuration of a verb, as an argument or as a flag.
type fileOption struct {
	File   string `arg:"" optional:"" type:"nonempty" help:"The configuration."`
	Config string `short:"c" type:"nonempty" placeholder:"FILE" help:"The configuration, instead of an argument."`
}

// take stores the name in Config. It is "" if the command line has none.
func (o *fileOption) take() error {
	switch {
	case o.File == "":
	case o.Config != "":
		return cli.Misuse(fmt.Errorf("two configurations: %s and %s", o.Config, o.File), "name one of them")
	default:
		o.Config = o.File
	}
	return nil
}

// require is take for a verb that needs a file. The name of the verb is for the hint.
func (o *fileOption) require(verb string) error {
	if err := o.take(); err != nil {
		return err
	}
	if o.Config == "" {
		return cli.Misuse(errors.New("the file is missing"), fmt.Sprintf("weir %s FILE, for example weir %[1]s weir.yaml", verb))
	}
	return nil
}
