package loadpage_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/cmd/weir/internal/loadpage"
	"github.com/weirhq/weir/internal/browsertest"
	"github.com/weirhq/weir/internal/livepage"
	"github.com/weirhq/weir/internal/peer"
	"github.com/weirhq/weir/internal/testkit"
	"github.com/weirhq/weir/load"
	"github.com/weirhq/weir/load/pace"
	"github.com/weirhq/weir/load/report"
	"github.com/weirhq/weir/load/target"
)

func TestMain(m *testing.M) {
	code := m.Run()
	browsertest.End()
	os.Exit(code)
}

// TestPageShowsTheRunAndItsResult compares the page with the progress and the result of a real run. It looks at it while
// the run lasts, and after the server of the page has ended.
func TestPageShowsTheRunAndItsResult(t *testing.T) {
	backend := testkit.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/broken" {
			w.WriteHeader(500)
		}
	}))
	plan := load.Plan{
		Targets: []target.Target{{URL: backend.URL + "/"}, {URL: backend.URL + "/"}, {URL: backend.URL + "/broken"}},
		Pace:    pace.Rate(300), Duration: 4 * time.Second, Process: -1,
	}
	page := loadpage.New(plan)
	server, err := livepage.Serve("127.0.0.1:0", loadpage.Files, page.Story)
	if err != nil {
		t.Fatal(err)
	}
	open := make(chan struct{})
	seen := make(chan struct{})
	held := false
	plan.Progress = func(p load.Progress) {
		page.Show(p)
		if p.Done && !held {
			held = true
			<-seen // the page is looked at before it gets the result
		}
	}
	type outcome struct {
		r   *load.Result
		err error
	}
	ended := make(chan outcome, 1)
	go func() {
		<-open
		r, err := load.Run(context.Background(), plan)
		ended <- outcome{r, err}
	}()
	b := browsertest.Open(t, "http://"+server.Addr.String()+"/")
	b.Await(`document.getElementById("title").textContent.startsWith("Load on ")`)
	close(open)
	b.Await(`document.querySelectorAll("#course svg path[d*=L]").length > 5`)
	b.Await(`document.getElementById("classes").textContent.includes("5xx")`)
	if state := b.Text("#state"); !strings.Contains("running waiting for the last responses", state) {
		t.Errorf("the state is %q", state)
	}
	t.Run("no faults for axe-core", func(t *testing.T) { b.CheckAccess(peer.AxeCore(t)) })
	close(seen)
	o := <-ended
	if o.err != nil {
		t.Fatal(o.err)
	}
	b.Await(fmt.Sprintf(`document.querySelector("#account tbody tr:nth-child(2) td").textContent.replace(",", "") === "%d"`, o.r.Sent))
	page.End(o.r, nil)
	server.Close()
	b.Await(`!document.getElementById("result").hidden`)
	checkResult(t, b, report.Summarize(o.r))
	t.Run("no faults for axe-core at the end", func(t *testing.T) { b.CheckAccess(peer.AxeCore(t)) })
	b.CheckWidths()
	b.KeepPictures("load")
	b.CheckQuiet()
}

// checkResult compares the page with the sentences and the tables of the text.
func checkResult(t *testing.T, b *browsertest.Page, s report.Summary) {
	t.Helper()
	if got, want := b.Text("#headline"), strings.Join(s.Headline, " "); got != want {
		t.Errorf("the headline is %q, want %q", got, want)
	}
	if state := b.Text("#state"); state != "the run has ended, and weir load with it" {
		t.Errorf("the state is %q", state)
	}
	var want []string
	for _, table := range s.Tables {
		for _, row := range table.Rows {
			var cells []string
			for _, c := range row {
				cells = append(cells, c.Text)
			}
			want = append(want, strings.TrimRight(strings.Join(cells, "|"), "|")) // without an empty column of remarks
		}
	}
	got := browsertest.Evaluate[[]string](b, `Array.from(document.querySelectorAll("#tables tbody tr"), (row) =>
		Array.from(row.cells, (c) => c.textContent).join("|").replace(/\|+$/, ""))`)
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("the tables are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestPageShowsWhyARunHasFailed ends a run without a result.
func TestPageShowsWhyARunHasFailed(t *testing.T) {
	page := loadpage.New(load.Plan{Targets: []target.Target{{URL: "http://127.0.0.1:1/"}}})
	server, err := livepage.Serve("127.0.0.1:0", loadpage.Files, page.Story)
	if err != nil {
		t.Fatal(err)
	}
	b := browsertest.Open(t, "http://"+server.Addr.String()+"/")
	page.End(nil, fmt.Errorf("the server is gone"))
	b.Await(`document.getElementById("state").textContent === "the run has failed: the server is gone"`)
	server.Close()
	b.CheckQuiet()
}
