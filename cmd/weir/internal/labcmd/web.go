package labcmd

import (
	"github.com/weirhq/weir/cmd/weir/internal/cli"
	"github.com/weirhq/weir/cmd/weir/internal/labpage"
	"github.com/weirhq/weir/internal/livepage"
	"github.com/weirhq/weir/lab"
	"github.com/weirhq/weir/lab/analysis"
	"github.com/weirhq/weir/lab/results"
	"github.com/weirhq/weir/load"
)

// A web shows an experiment on the page of --web. Without the flag its server is nil, and its methods do nothing.
type web struct {
	page   *labpage.Page
	server *livepage.Server
	folder string
}

// serveWeb begins to serve the page of an experiment with results in a folder.
func serveWeb(s cli.Streams, address cli.WebAddress, page *labpage.Page, folder string) (web, error) {
	server, err := address.Serve(s, labpage.Files, page.Story)
	return web{page, server, folder}, err
}

// begin shows the configurations.
func (w web) begin(title, question string, configurations []results.Configuration) {
	if w.server != nil {
		w.page.Begin(title, question, configurations)
	}
}

// addOld adds the runs of an experiment that is resumed.
func (w web) addOld() {
	if w.server == nil {
		return
	}
	if old, err := lab.Read(w.folder); err == nil { // otherwise the experiment begins with the first run
		for i := range old.Runs {
			w.page.Add(&old.Runs[i])
		}
	}
}

// show shows progress.
func (w web) show(p lab.Progress) {
	if w.server != nil {
		w.page.Show(p)
	}
}

// load returns the function that shows the load of the current run; nil without the flag.
func (w web) load() func(load.Progress) {
	if w.server == nil {
		return nil
	}
	return w.page.ShowLoad
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
