package errorpages_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/feature/errorpages"
	"github.com/weirhq/weir/front/feature/maintenance"
	"github.com/weirhq/weir/front/internal/configtest"
	"github.com/weirhq/weir/front/statuses"
)

const smallest = "upstreams: {a: {servers: [http://127.0.0.1:8080]}}\nroutes: [{match: /, to: a}]\n"

// TestErrorPagesAndMaintenanceAreParsed parses error pages and a maintenance whose files exist, in the configuration
// and in an included file in another folder, and one that is too long.
func TestErrorPagesAndMaintenanceAreParsed(t *testing.T) {
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
	write("routes/a.yaml", "routes:\n- {match: /own, to: a, error_pages: {404: own.txt, 5xx: off, 500-502: off, intercept: off}, maintenance: {active: true, page: off, retry_after: off}}\n")
	main := filepath.Join(folder, "weir.yaml")
	src := smallest + "include: routes/*.yaml\n" +
		"defaults:\n  error_pages: {5xx: [pages/error.HTML, pages/error.json], 404: pages/error.HTML, 500-502: pages/error.json, intercept: true}\n" +
		"  maintenance: {page: pages/error.json, retry_after: 1m30s}\n"
	got, err := config.Parse(main, []byte(src), nil)
	if err != nil {
		t.Fatal(err)
	}
	html := errorpages.File{Type: "text/html; charset=utf-8", Body: "<p>error"}
	json := errorpages.File{Type: "application/json", Body: "{}"}
	wantPages := &errorpages.Config{Intercept: true, Pages: []errorpages.StatusPage{
		{Statuses: statuses.Range{First: 500, Last: 599}, Page: errorpages.Page{html, json}}, {Statuses: statuses.Range{First: 404, Last: 404}, Page: errorpages.Page{html}},
		{Statuses: statuses.Range{First: 500, Last: 502}, Page: errorpages.Page{json}}}}
	if diff := cmp.Diff(wantPages, got.ErrorPages); diff != "" {
		t.Errorf("error_pages (-want +got):\n%s", diff)
	}
	wantMaintenance := &maintenance.Config{Page: errorpages.Page{json}, RetryAfter: 90 * time.Second}
	if diff := cmp.Diff(wantMaintenance, got.Routes[0].Maintenance); diff != "" {
		t.Errorf("maintenance (-want +got):\n%s", diff)
	}
	own := got.Routes[1]
	wantPages = &errorpages.Config{Pages: []errorpages.StatusPage{
		{Statuses: statuses.Range{First: 404, Last: 404}, Page: errorpages.Page{{Type: "text/plain; charset=utf-8", Body: "own"}}}}}
	if diff := cmp.Diff(wantPages, own.ErrorPages); diff != "" {
		t.Errorf("error_pages of a route (-want +got):\n%s", diff)
	}
	if own.Maintenance == nil || !own.Maintenance.Active || own.Maintenance.Page != nil {
		t.Errorf("maintenance of a route: %+v", own.Maintenance)
	}

	write("pages/error.json", strings.Repeat("x", 1<<20+1))
	_, err = config.Parse(main, []byte(src), nil)
	if err == nil || !strings.Contains(err.Error(), "the limit is 1048576") {
		t.Errorf("a page that is too long: %v", err)
	}
}

func TestErrorPageMistakesAreReported(t *testing.T) {
	for _, c := range []struct {
		name, src string
		want      []string
	}{
		{"error pages", smallest + "defaults:\n  error_pages: {200: a.html, 600: a.html, 4x: a.html, 404: none.html, 405: [], " +
			"406: config.go, 407: true, intercept: on}\n",
			[]string{`4:17 "200" is not the status of an error|400 to 599`, `4:30 "600"`, `4:43 "4x"`,
				`4:60 the page "none.html": no such file|folder of this file`, `4:76 error page "405" is empty`,
				`4:85 "config.go"|.html`,
				`4:101 true is a bool`, `4:118 "on"|write true`}},
		{"error pages without one", smallest + "defaults:\n  error_pages: {intercept: true}\n" +
			"  maintenance: {page: ., retry_after: 1500ms, active: 1}\n",
			[]string{`4:3 "error_pages" has no status|5xx: pages/error.html`, `5:23 "."|.html`, `5:39 "1500ms"|whole seconds`,
				`5:55 "1"`}},
		{"spellings of statuses", smallest + "defaults:\n  error_pages: {5XX: off, 500-599: a.html, 404-404: a.html, 0404: a.html, 405: a.html, 405: a.html}\n",
			[]string{`4:17 "5XX" is another name of the statuses 5xx|write 5xx`, `4:27 "500-599"|write 5xx`, `4:44 "404-404"|write 404`,
				`4:61 "0404" is not the status of an error`, `4:80 the page "a.html"`, `4:88 "405"|twice`}},
		{"maintenance of a route", "upstreams: {a: {servers: http://a}}\nroutes:\n- {match: /a, to: a, maintenance: yes}\n" +
			"- {match: /b, to: a, error_pages: a.html, maintenance: {retry_after: 0s, status: 503}}\n",
			[]string{`3:35 "yes"|write true`, `4:35 "error_pages" must be a mapping`, `4:70 "0s"`,
				`4:74 "status"`}},
	} {
		configtest.WantMistakes(t, c.name, c.src, c.want)
	}
}

// TestInterceptStaysWhenPagesAreRemoved removes the only page of outer places, so that intercept is left.
func TestInterceptStaysWhenPagesAreRemoved(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "a.html"), []byte("a"), 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := config.Parse(filepath.Join(folder, "weir.yaml"), []byte(`
upstreams: {a: {servers: http://a}}
defaults: {error_pages: {404: a.html, intercept: true}}
routes:
- group: {error_pages: {404: off}, to: a, routes: [{match: /}, {match: /b, error_pages: {intercept: false}}]}
`), nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []*errorpages.Config{{Intercept: true}, {}} {
		if diff := cmp.Diff(want, got.Routes[i].ErrorPages); diff != "" {
			t.Errorf("route %d (-want +got):\n%s", i, diff)
		}
	}
}
