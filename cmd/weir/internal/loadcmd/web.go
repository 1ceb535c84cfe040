package loadcmd

import (
	"github.com/weirhq/weir/cmd/weir/internal/cli"
	"github.com/weirhq/weir/cmd/weir/internal/loadpage"
	"github.com/weirhq/weir/internal/livepage"
	"github.com/weirhq/weir/load"
)

// A web shows a run on the page of --web. Without the flag its server is nil, and its methods do nothing.
type web struct {
	page   *loadpage.Page
	server *livepage.Server
}

// serveWeb begins to serve the page of a run.
func (c *sendCommand) serveWeb(s cli.Streams, plan load.Plan) (web, error) {
	page := loadpage.New(plan)
	server, err := c.Web.Serve(s, loadpage.Files, page.Story)
	return web{page, server}, err
}

// follow returns a function that shows progress on the page after it has called next.
func (w web) follow(next func(load.Progress)) func(load.Progress) {
	if w.server == nil {
		return next
	}
	return func(p load.Progress) {
		next(p)
		w.page.Show(p)
	}
}

// end shows the end of the run.
func (w web) end(r *load.Result, err error) {
	if w.server != nil {
		w.page.End(r, err)
	}
}

// close ends the server. An open page keeps its numbers.
func (w web) close() {
	if w.server != nil {
		w.server.Close()
	}
}
