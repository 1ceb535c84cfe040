package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// shown configures a front door with something to see: two services, one of which has a server that is down.
const shown = `listen: 127.0.0.1:20000
admin: 127.0.0.1:20001
log: {to: %s, events: interesting}
limits: {in_flight: 50}
drain: {delay: off}
upstreams:
  shop: {servers: ["http://127.0.0.1:8080", "http://127.0.0.1:9"]}
  search: {servers: "http://127.0.0.1:8080"}
routes:
  - {match: "/shop/{path...}", to: shop}
  - {match: "/search", to: search}
`

// watched is the time that the dashboard is open before its pictures.
const watched = 45 * time.Second

// dashboardPictures takes screenshots of the top of the dashboard, in light and in dark.
func dashboardPictures(ctx context.Context, weir, dir, made string) error {
	stop, err := startBackend(ctx, weir)
	if err != nil {
		return err
	}
	defer stop()
	config := filepath.Join(dir, "dashboard.yaml")
	if err := os.WriteFile(config, fmt.Appendf(nil, shown, filepath.Join(dir, "weir.log")), 0o644); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"serve", "--config", config},
		{"load", "-r", "150", "-d", "90s", "http://127.0.0.1:20000/shop/"},
		{"load", "-r", "40", "-d", "90s", "http://127.0.0.1:20000/search?latency=80ms"},
		{"load", "-r", "1", "-d", "90s", "http://127.0.0.1:20000/shop/cart?status=500"},
	} {
		end, err := startFor(ctx, weir, args...)
		if err != nil {
			return err
		}
		defer end()
		if args[0] == "serve" {
			if err := awaitPage(ctx, "http://127.0.0.1:20001/readyz"); err != nil {
				return err
			}
		}
	}
	return shoot(ctx, made)
}

// startFor starts a program and ignores its output. The returned function ends it.
func startFor(ctx context.Context, program string, args ...string) (end func(), err error) {
	c := exec.CommandContext(ctx, program, args...)
	if err := c.Start(); err != nil {
		return nil, err
	}
	return func() {
		c.Process.Signal(os.Interrupt)
		c.Wait()
	}, nil
}

// awaitPage waits until a page can be read.
func awaitPage(ctx context.Context, url string) error {
	for {
		if resp, err := http.Get(url); err == nil {
			resp.Body.Close()
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// shoot opens the dashboard, waits until its charts have something to show, and writes the pictures.
func shoot(ctx context.Context, made string) error {
	chromium, err := anyOf("chromium", "chromium-browser", "google-chrome")
	if err != nil {
		return err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium),
		chromedp.Flag("no-sandbox", true), chromedp.Flag("disable-gpu", true), chromedp.Flag("hide-scrollbars", true))
	ctx, endBrowser := chromedp.NewExecAllocator(ctx, options...)
	defer endBrowser()
	ctx, endTab := chromedp.NewContext(ctx)
	defer endTab()
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(1200, 960), chromedp.Navigate("http://127.0.0.1:20001/")); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(watched):
	}
	for name, scheme := range map[string]string{"dashboard.png": "light", "dashboard-dark.png": "dark"} {
		if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
		}); err != nil {
			return err
		}
		png, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(made, name), png, 0o644); err != nil {
			return err
		}
	}
	return nil
}
