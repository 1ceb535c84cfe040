package serve

import (
	"errors"
	"time"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
)

type ReloadCommand struct{ fileOption }

// Help implements kong.HelpProvider.
func (ReloadCommand) Help() string {
	return `Makes the running weir serve --config FILE read its configuration again and apply every key. If the file has a
mistake, prints the mistakes with line and column and exits with 1; the front door keeps its configuration. SIGHUP does
the same without a response. Needs Linux, and the same user or root.

Example:
  weir reload --config weir.yaml`
}

// Run asks the process to reload.
func (c *ReloadCommand) Run(s cli.Streams) error {
	if err := c.require("reload"); err != nil {
		return err
	}
	a, err := ask(served{config: c.Config}, controlReload)
	if err != nil {
		return err
	}
	return a.print(s)
}

// print prints a response. The error is that of a request that has failed.
func (a controlResponse) print(s cli.Streams) error {
	if !a.OK {
		return cli.WithHint(errors.New(a.Text), a.Hint)
	}
	cli.Say(s.Err, a.Text)
	if a.Hint != "" {
		cli.Say(s.Err, "hint: "+a.Hint)
	}
	return nil
}

type UpgradeCommand struct {
	fileOption
	Admin string `type:"nonempty" placeholder:"ADDR" default:"${admin}" help:"Without a file: the admin address of the front door (default ${default})."`
}

// Help implements kong.HelpProvider.
func (UpgradeCommand) Help() string {
	return `Replaces the running weir serve --config FILE by a new process without a refused connection: install the new binary
at the same path, then run weir upgrade. The running process starts the new one with its own arguments and
environment, hands its listeners over, and drains when the new process is ready; tunnels stay with it until
drain.timeout. If the new process does not start, for example because of a mistake in the file, this exits with 1 and
nothing has changed. Needs Linux, and the same user or root. A front door without a file, as weir serve --to starts one,
is found by its admin address.

Examples:
  weir upgrade --config weir.yaml
  weir upgrade`
}

// Run asks the process to start its successor.
func (c *UpgradeCommand) Run(s cli.Streams) error {
	if err := c.take(); err != nil {
		return err
	}
	a, err := ask(c.served(), controlUpgrade)
	if err != nil {
		return err
	}
	if a.OK {
		c.await(a.PID)
	}
	return a.print(s)
}

func (c *UpgradeCommand) served() served { return served{c.Config, c.Admin} }

// await waits until the new process responds to requests, so that another verb reaches it.
func (c *UpgradeCommand) await(pid int) {
	for began := time.Now(); time.Since(began) < controlTimeout; time.Sleep(10 * time.Millisecond) {
		if a, err := ask(c.served(), ""); err == nil && a.PID == pid {
			return
		}
	}
}
