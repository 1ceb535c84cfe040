package browsertest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// A Page is a page in a tab of its own. Its errors fail the test.
type Page struct {
	t        testing.TB
	ctx      context.Context
	messages chan string // exceptions, and messages of the console
}

// Open opens a page at 1200 by 900 pixels, as Tab does.
func Open(t testing.TB, url string) *Page {
	t.Helper()
	p := &Page{t: t, ctx: Tab(t), messages: make(chan string, 100)}
	err := chromedp.Listen(p.ctx, func(event any) {
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			p.messages <- "exception: " + e.ExceptionDetails.Text
		case *runtime.EventConsoleAPICalled:
			p.messages <- fmt.Sprintf("console.%s", e.Type)
		case *log.EventEntryAdded:
			p.messages <- "log: " + e.Entry.Text
		}
	})
	if err == nil {
		_, err = chromedp.Call(p.ctx, log.Enable, cdp.Empty{})
	}
	if err == nil {
		err = chromedp.Do(p.ctx, chromedp.EmulateViewport(1200, 900), chromedp.Navigate(url))
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Navigate opens another page in the tab.
func (p *Page) Navigate(url string) {
	p.t.Helper()
	Do(p.t, p.ctx, chromedp.Navigate(url))
}

// Evaluate returns the value of an expression in the page.
func Evaluate[T any](p *Page, expression string) T {
	p.t.Helper()
	v, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		p.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// Await waits until an expression in the page is true.
func (p *Page) Await(expression string) {
	p.t.Helper()
	for !Evaluate[bool](p, expression) { // the tab ends after three minutes
		time.Sleep(50 * time.Millisecond)
	}
}

// Text returns the text of the first element that a selector finds.
func (p *Page) Text(selector string) string {
	p.t.Helper()
	return Evaluate[string](p, fmt.Sprintf("document.querySelector(%q).textContent", selector))
}

// Scheme sets the color scheme: light or dark.
func (p *Page) Scheme(name string) {
	p.t.Helper()
	_, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}},
	})
	if err != nil {
		p.t.Fatal(err)
	}
}

// CheckAccess lets the given script of axe-core examine the page in both schemes, with the tables behind the charts.
func (p *Page) CheckAccess(axe string) {
	p.t.Helper()
	Evaluate[int](p, axe+`;document.querySelectorAll("details").forEach((d) => { d.open = true; }); 1`)
	for _, name := range []string{"light", "dark"} {
		p.Scheme(name)
		Evaluate[int](p, `window.found = null; axe.run().then((r) => { window.found = r.violations.map((v) =>
			v.id + ": " + v.nodes.map((n) => n.html + " " + n.failureSummary).join("; ")); }); 1`)
		p.Await(`window.found !== null`)
		for _, fault := range Evaluate[[]string](p, `window.found`) {
			p.t.Errorf("in the %s scheme: %s", name, fault)
		}
	}
	Evaluate[int](p, `document.querySelectorAll("details").forEach((d) => { d.open = false; }); 1`)
}

// CheckWidths checks that the page does not scroll sideways, on a phone and on screens.
func (p *Page) CheckWidths() {
	p.t.Helper()
	for _, width := range []int64{400, 1200, 1280} {
		p.resize(width)
		if wide := Evaluate[int64](p, `document.documentElement.scrollWidth`); wide > width {
			p.t.Errorf("at %d pixels, the page is %d wide", width, wide)
		}
	}
}

// CheckQuiet checks that the page has thrown no exception, and has written nothing to the console.
func (p *Page) CheckQuiet() {
	p.t.Helper()
	select {
	case m := <-p.messages:
		p.t.Errorf("the page: %s", m)
	default:
	}
}

func (p *Page) resize(width int64) {
	p.t.Helper()
	if err := chromedp.Do(p.ctx, chromedp.EmulateViewport(width, 900)); err != nil {
		p.t.Fatal(err)
	}
}

// KeepPictures saves pictures of the page in the folder that WEIR_SCREENSHOTS names, if it is set.
func (p *Page) KeepPictures(name string) {
	p.t.Helper()
	dir := os.Getenv("WEIR_SCREENSHOTS")
	if dir == "" {
		return
	}
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{1200, 400} {
			p.Scheme(scheme)
			p.resize(width)
			png, err := chromedp.Run(p.ctx, chromedp.FullScreenshot(100))
			if err != nil {
				p.t.Fatal(err)
			}
			file := fmt.Sprintf("%s-%s-%d.png", name, scheme, width)
			if err := os.WriteFile(filepath.Join(dir, file), png, 0o644); err != nil {
				p.t.Error(err)
			}
		}
	}
}
