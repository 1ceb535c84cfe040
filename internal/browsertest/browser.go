// Package browsertest opens pages in Chromium, for the tests of several packages.
package browsertest

import (
	"context"
	"fmt"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// Tab returns a new tab of the Chromium that all tests of a package share, or skips the test if there is none. The tab is
// closed at the end of the test, and after three minutes at most. TestMain calls End.
func Tab(t testing.TB) context.Context {
	t.Helper()
	shared, err := start()
	switch {
	case err != nil:
		t.Fatal(err)
	case shared == nil:
		t.Skip("this test looks at pages in Chromium: install Debian's chromium")
	}
	ctx, cancel := chromedp.NewContext(shared)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx, chromedp.Navigate("about:blank")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel = context.WithTimeout(ctx, 3*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// Do runs steps in a tab.
func Do(t testing.TB, ctx context.Context, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(ctx, steps...); err != nil {
		t.Fatal(err)
	}
}

// End ends Chromium, if a test has started it, and waits for its end.
func End() { end() }

var end = func() {}

var start = sync.OnceValues(func() (context.Context, error) {
	path := chromium()
	if path == "" {
		return nil, nil
	}
	// Chromium ends after ten minutes in any case, which is more
	// than the tests take.
	limited, stop := context.WithTimeout(context.Background(), 10*time.Minute)
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path),
		chromedp.Flag("no-sandbox", true), chromedp.Flag("disable-gpu", true))
	allocator, cancelAllocator := chromedp.NewExecAllocator(limited, options...)
	ctx, cancel := chromedp.NewContext(allocator)
	end = func() { cancel(); cancelAllocator(); stop() }
	if err := chromedp.Do(ctx, chromedp.Navigate("about:blank")); err != nil {
		return nil, fmt.Errorf("starting %s: %w", path, err)
	}
	return ctx, nil
})

// chromium returns the path of the browser, or "".
func chromium() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}
