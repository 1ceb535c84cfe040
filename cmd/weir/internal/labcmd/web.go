package labcmd

import (
	"github.com/weirhq/weir/cmd/weir/internal/cli"
	"github.com/weirhq/weir/cmd/weir/internal/labpage"
	"github.com/weirhq/weir/internal/livepage"
	"github.com/weirhq/weir/lab"
	"github.com/weirhq/weir/lab/analysis"
	"github.com/weirhq/weir/lab/experiment"
	"github.com/weirhq/weir/lab/results"
)

// A web shows an experiment on the page of --web. Without the flag its server is nil, and its methods do nothing.
type web struct {
	page   *labpage.Page
	server *livepage.Server
	folder string
}

// serveWeb begins to serve the page of an experiment.
func (c *runCommand) serveWeb(s cli.Streams, e *experiment.Experiment, cases []experiment.Case, folder string) (web, error) {
	page := labpage.New(e, cases, folder)
	server, err := c.Web.Serve(s, labpage.Files, page.Story)
	if server != nil && c.Resume {
		if old, err := lab.Read(folder); err == nil { // otherwise the experiment begins with the first run
			for i := range old.Runs {
				page.Add(&old.Runs[i])
			}
		}
	}
	return web{page, server, folder}, err
}

// follow returns the options with functions that show progress on the page, too.
func (w web) follow(o lab.Options) lab.Options {
	if w.server == nil {
		return o
	}
	next := o.Progress
	o.Progress = func(p lab.Progress) {
		next(p)
		w.page.Show(p)
	}
	o.LoadProgress = w.page.ShowLoad
	return o
}

// end shows the findings.
func (w web) end(r *results.Results, a *analysis.Analysis) {
	if w.server != nil {
		w.page.End(r, a, w.folder)
	}
}

// fail shows the error that ended the experiment.
func (w web) fail(err error) {
	if w.server != nil {
		w.page.Fail(err)
	}
}

// close ends the server. An open page keeps its numbers.
func (w web) close() {
	if w.server != nil {
		w.server.Close()
	}
}
