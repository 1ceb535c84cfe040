package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirhq/weir/front/config"
)

// TestParseErrorPages parses pages whose files exist, in the configuration and in an included
// file in another folder, and one that is too long.
func TestParseErrorPages(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		name = filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("pages/error.HTML", "<p>error")
	write("pages/error.json", "{}")
	write("routes/own.txt", "own")
	write("routes/a.yaml", "routes:\n- {match: /own, to: a, error_pages: {404: own.txt}, maintenance: {active: true}}\n")
	main := filepath.Join(folder, "weir.yaml")
	src := smallest + "include: routes/*.yaml\n" +
		"error_pages: {5XX: [pages/error.HTML, pages/error.json], 404: pages/error.HTML, intercept: true}\n" +
		"maintenance: {page: pages/error.json, retry_after: 1m30s}\n"
	got, err := config.Parse(main, []byte(src), nil)
	if err != nil {
		t.Fatal(err)
	}
	html := config.PageFile{Type: "text/html; charset=utf-8", Body: "<p>error"}
	json := config.PageFile{Type: "application/json", Body: "{}"}
	wantPages := &config.ErrorPages{Intercept: true, Pages: []config.ErrorPage{
		{Statuses: "5xx", Files: []config.PageFile{html, json}}, {Statuses: "404", Files: []config.PageFile{html}}}}
	if diff := cmp.Diff(wantPages, got.ErrorPages); diff != "" {
		t.Errorf("error_pages (-want +got):\n%s", diff)
	}
	wantMaintenance := &config.Maintenance{Files: []config.PageFile{json}, RetryAfter: 90 * time.Second}
	if diff := cmp.Diff(wantMaintenance, got.Maintenance); diff != "" {
		t.Errorf("maintenance (-want +got):\n%s", diff)
	}
	own := got.Routes[1]
	wantPages = &config.ErrorPages{Pages: []config.ErrorPage{
		{Statuses: "404", Files: []config.PageFile{{Type: "text/plain; charset=utf-8", Body: "own"}}}}}
	if diff := cmp.Diff(wantPages, own.ErrorPages); diff != "" {
		t.Errorf("error_pages of a route (-want +got):\n%s", diff)
	}
	if own.Maintenance == nil || !own.Maintenance.Active || own.Maintenance.Files != nil {
		t.Errorf("maintenance of a route: %+v", own.Maintenance)
	}

	write("pages/error.json", strings.Repeat("x", 1<<20+1))
	_, err = config.Parse(main, []byte(src), nil)
	if err == nil || !strings.Contains(err.Error(), "the limit is 1048576") {
		t.Errorf("a page that is too long: %v", err)
	}
}
