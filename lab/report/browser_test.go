package report_test

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/weirhq/weir/internal/browsertest"
	"github.com/weirhq/weir/lab/analysis"
	"github.com/weirhq/weir/lab/report"
)

// A witness records the console messages and network requests of a page.
type witness struct {
	mu       sync.Mutex
	messages []string
}

func witnessOf(t *testing.T, ctx context.Context) *witness {
	t.Helper()
	w := &witness{}
	note := func(format string, args ...any) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.messages = append(w.messages, fmt.Sprintf(format, args...))
	}
	err := chromedp.Listen(ctx, func(event any) {
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			note("exception: %s", e.ExceptionDetails.Text)
		case *runtime.EventConsoleAPICalled:
			note("console.%s", e.Type)
		case *log.EventEntryAdded:
			note("log: %s", e.Entry.Text)
		case *network.EventRequestWillBeSent:
			if !strings.HasPrefix(e.Request.URL, "file:") {
				note("request to %s", e.Request.URL)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	call(t, ctx, log.Enable, cdp.Empty{})
	call(t, ctx, network.Enable, network.EnableParams{})
	return w
}

func (w *witness) check(t *testing.T) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, m := range w.messages {
		t.Errorf("the page: %s", m)
	}
}

func call[P, R any](t *testing.T, ctx context.Context, command cdp.Command[P, R], params P) {
	t.Helper()
	if _, err := chromedp.Call(ctx, command, params); err != nil {
		t.Fatal(err)
	}
}

func get[T any](t *testing.T, ctx context.Context, action chromedp.Action[T]) T {
	t.Helper()
	v, err := chromedp.Run(ctx, action)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// evaluate returns the value of an expression in the page.
func evaluate[T any](t *testing.T, ctx context.Context, expression string) T {
	t.Helper()
	return get(t, ctx, chromedp.Evaluate[T](expression))
}

// scheme sets the colour scheme of the page to dark or light.
func scheme(t *testing.T, ctx context.Context, name string) {
	t.Helper()
	call(t, ctx, emulation.SetEmulatedMedia,
		emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme",
			Value: name}}})
}

// open opens a file of a folder from disk.
func open(dir, name string) chromedp.Action[chromedp.Void] {
	return chromedp.Navigate((&url.URL{Scheme: "file", Path: filepath.Join(dir, name)}).String())
}

func TestPageWorksInBrowser(t *testing.T) {
	_, dir := wholeReport(t)
	ctx := browsertest.Tab(t)
	w := witnessOf(t, ctx)
	browsertest.Do(t, ctx, chromedp.EmulateViewport(1280, 900))
	began := time.Now()
	browsertest.Do(t, ctx, open(dir, "report.html"))
	t.Logf("opened in %v", time.Since(began))

	t.Run("charts are drawn", func(t *testing.T) { checkCharts(t, ctx) })
	t.Run("tables sort", func(t *testing.T) { checkSorting(t, ctx) })
	t.Run("no scrolling sideways", func(t *testing.T) { checkWidth(t, ctx) })
	t.Run("dark and light differ", func(t *testing.T) {
		colors := map[string]bool{}
		for _, name := range []string{"dark", "light"} {
			scheme(t, ctx, name)
			colors[evaluate[string](t, ctx, `getComputedStyle(document.body).backgroundColor`)] = true
		}
		if len(colors) != 2 {
			t.Errorf("the page's background is %v in both", colors)
		}
	})
	t.Run("prints", func(t *testing.T) {
		pdf := get(t, ctx, chromedp.PrintToPDF())
		if len(pdf) < 10_000 || string(pdf[:5]) != "%PDF-" {
			t.Errorf("printed to %d bytes, want a PDF", len(pdf))
		}
	})
	keepScreenshots(t, ctx)
	w.check(t)
}

// TestComparisonWorksInBrowser opens the page of a comparison.
func TestComparisonWorksInBrowser(t *testing.T) {
	r, _ := wholeReport(t)
	dir := t.TempDir()
	var page bytes.Buffer
	if err := report.ComparisonHTML(&page, analysis.Compare(r, r)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "compare.html"), page.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	ctx := browsertest.Tab(t)
	w := witnessOf(t, ctx)
	browsertest.Do(t, ctx, chromedp.EmulateViewport(1280, 900), open(dir, "compare.html"))
	if n := evaluate[int](t, ctx, `Array.from(document.querySelectorAll(".lane circle")).filter((c) => c.getBoundingClientRect().width > 0).length`); n < len(r.Runs) {
		t.Errorf("%d dots are drawn, want one for each run", n)
	}
	checkWidth(t, ctx)
	w.check(t)
}

// checkWidth checks the page at several widths.
func checkWidth(t *testing.T, ctx context.Context) {
	for _, width := range []int64{400, 1280} {
		browsertest.Do(t, ctx, chromedp.EmulateViewport(width, 900))
		if wide := evaluate[int64](t, ctx, `document.documentElement.scrollWidth`); wide > width {
			t.Errorf("at %d pixels, the page is %d wide", width, wide)
		}
	}
}

// checkCharts checks that no chart is empty or has no size.
func checkCharts(t *testing.T, ctx context.Context) {
	type charts struct{ Figures, Empty, Strips, Dots, Panels, Folds, Shapeless, Nameless int }
	found := evaluate[charts](t, ctx, `(() => {
			document.querySelectorAll("details").forEach((d) => { d.open = true; });
			const all = (s) => Array.from(document.querySelectorAll(s));
			const flat = (e) => { const b = e.getBoundingClientRect(); return !(b.width > 0 && b.height > 0); };
			return {
				Figures: all("figure").length,
				Empty: all("svg.chart").filter((e) => flat(e) || e.querySelectorAll("path, circle, rect").length === 0).length,
				Strips: all(".lane svg").length,
				Dots: all(".lane circle").length,
				Panels: all(".panel h4").length,
				Folds: all("details.fold figure").length,
				Nameless: all("svg.chart").filter((e) => e.getAttribute("role") !== "img" || !e.getAttribute("aria-label")).length,
				Shapeless: all("svg.chart path").filter((e) => e.getAttribute("d").length < 8).length,
			};
		})()`)
	if found.Figures < 15 || found.Strips < 25 || found.Panels < 25 || found.Folds < 20 {
		t.Errorf("the page has %+v, want a chart for each measure and each configuration", found)
	}
	if found.Dots < 100 {
		t.Errorf("the page has %d dots, want one for each run and measure", found.Dots)
	}
	if found.Empty > 0 || found.Shapeless > 0 || found.Nameless > 0 {
		t.Errorf("%d charts have no size or nothing drawn in them, %d lines no points, %d charts no accessible name",
			found.Empty, found.Shapeless, found.Nameless)
	}
}

// checkSorting sorts the overview by its requests per second, with the mouse and
// with the keyboard.
func checkSorting(t *testing.T, ctx context.Context) {
	const (
		head  = `document.querySelectorAll(".cards thead th")[2].getAttribute("aria-sort")`
		order = `Array.from(document.querySelectorAll(".cards tbody th"), (e) => e.firstChild.textContent.trim())`
	)
	button := chromedp.CSS(".cards thead th:nth-child(3) button")
	names := evaluate[[]string](t, ctx, order)
	browsertest.Do(t, ctx, chromedp.Click(button))
	upwards, first := evaluate[[]string](t, ctx, order), evaluate[string](t, ctx, head)
	browsertest.Do(t, ctx, chromedp.Focus(button), chromedp.KeyEvent("\r"))
	downwards, second := evaluate[[]string](t, ctx, order), evaluate[string](t, ctx, head)
	sorts := [2]string{first, second}
	if sorts != [2]string{"ascending", "descending"} {
		t.Errorf("aria-sort is %q, want ascending and then descending", sorts)
	}
	if len(names) < 5 || upwards[0] != "output=terminal" || downwards[len(downwards)-1] != "output=terminal" ||
		upwards[1] != "output=pipe" {
		t.Errorf("the rows are %q, upwards %q, downwards %q; want terminal, pipe, file and null upwards", names,
			upwards, downwards)
	}
}

// keepScreenshots saves pictures of the page in the folder that
// WEIR_SCREENSHOTS names.
func keepScreenshots(t *testing.T, ctx context.Context) {
	dir := os.Getenv("WEIR_SCREENSHOTS")
	if dir == "" {
		return
	}
	for _, shot := range []struct {
		name, scheme string
		width        int64
	}{{"lab-light", "light", 1280}, {"lab-dark", "dark", 1280}, {"lab-narrow", "light", 400}} {
		scheme(t, ctx, shot.scheme)
		browsertest.Do(t, ctx, chromedp.EmulateViewport(shot.width, 900))
		png := get(t, ctx, chromedp.FullScreenshot(100))
		if err := os.WriteFile(filepath.Join(dir, shot.name+".png"), png, 0o644); err != nil {
			t.Error(err)
		}
	}
}

// TestHostilePageRunsNothingInBrowser opens a page with hostile texts. None of them may
// run, and none may cause a network request.
func TestHostilePageRunsNothingInBrowser(t *testing.T) {
	_, dir := hostileReport(t)
	ctx := browsertest.Tab(t)
	w := witnessOf(t, ctx)
	browsertest.Do(t, ctx, chromedp.EmulateViewport(400, 900), open(dir, "report.html"))
	if evaluate[bool](t, ctx, `"hacked" in window`) {
		t.Error("the page ran what a configuration is called")
	}
	if wide := evaluate[int64](t, ctx, `document.documentElement.scrollWidth`); wide > 400 {
		t.Errorf("at 400 pixels, the page is %d wide", wide)
	}
	w.check(t)
}
