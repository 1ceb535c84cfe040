package labcmd

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
	"github.com/weirhq/weir/lab"
)

// A halfCommand is the process of one half of a duet. Only weir lab guard --duet starts it.
type halfCommand struct{}

// Run makes runs until stdin ends.
func (halfCommand) Run(s cli.Streams) error {
	signal.Ignore(syscall.SIGPIPE) // a process that writes to a closed pipe would leave its service running
	return lab.ServeHalf(context.Background(), os.Stdin, s.Out)
}
