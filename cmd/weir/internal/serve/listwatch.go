package serve

import (
	"fmt"
	"io"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
	"github.com/weirhq/weir/front"
)

// A listWatch prints to stderr that a list of servers cannot be applied, and that it is applied
// again.
type listWatch struct {
	stderr  io.Writer
	failing map[string]string // the last error by the name of the upstream
}

func newListWatch(stderr io.Writer) *listWatch {
	return &listWatch{stderr: stderr, failing: make(map[string]string)}
}

// check compares the states of the lists with those of the last call.
func (w *listWatch) check(lists []front.ServerListState) {
	for _, l := range lists {
		before, failed := w.failing[l.Upstream]
		switch {
		case l.Err == nil && failed:
			delete(w.failing, l.Upstream)
			fmt.Fprintf(w.stderr, "weir: upstream %s: the servers are from %s again\n", l.Upstream, l.Place)
		case l.Err != nil && l.Err.Error() != before:
			w.failing[l.Upstream] = l.Err.Error()
			effect := "the last servers stay"
			if l.Servers == 0 {
				effect = "it has no servers yet"
			}
			cli.PrintError(w.stderr, fmt.Errorf("upstream %s: %s: %w", l.Upstream, effect, l.Err))
		}
	}
}
