package main

import (
	"compress/gzip"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/backend"
	"github.com/weirhq/weir/internal/testkit"
)

// TestFilesExampleRuns runs a copy of examples/files, sends the requests of its README, and adds
// compressed files.
func TestFilesExampleRuns(t *testing.T) {
	t.Parallel()
	const folder = "../../examples/files"
	own := t.TempDir()
	if err := os.CopyFS(own, os.DirFS(folder)); err != nil {
		t.Fatal(err)
	}
	p := prepare(t, "serve", "--config", filepath.Join(own, "weir.yaml"), "--listen", "127.0.0.1:0", "--admin", "off")
	api := testkit.Serve(t, backend.Handler(backend.Options{Header: http.Header{"X-Answered-By": {"api"}}}))
	p.cmd.Env = append(p.cmd.Env, "API_URL="+api.URL)
	if err := p.start(); err != nil {
		t.Fatal(err)
	}

	readme, err := os.ReadFile(filepath.Join(folder, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	requests := regexp.MustCompile(
		`curl -si (?:-X (\w+) |-r (\S+) )?http://127\.0\.0\.1:20000(\S+) +# (\d+) ?(.*)`).FindAllStringSubmatch(
		string(readme), -1)
	if len(requests) < 10 {
		t.Fatalf("%d requests in the README", len(requests))
	}
	c := client(t)
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	for _, r := range requests {
		method, byteRange, target, status, contentType := r[1], r[2], r[3], r[4], r[5]
		req, err := http.NewRequest(method, p.url()+target, nil)
		if err != nil {
			t.Fatal(err)
		}
		if byteRange != "" {
			req.Header.Set("Range", "bytes="+byteRange)
		}
		a := do(t, c, req)
		if strconv.Itoa(a.StatusCode) != status || contentType != "" && a.Header.Get("Content-Type") != contentType {
			t.Errorf("%s: %s %s, want %s %s", target, a.Status, a.Header.Get("Content-Type"), status, contentType)
		}
		if fromAPI := a.Header.Get("X-Answered-By") == "api"; fromAPI != strings.HasPrefix(target, "/api/") {
			t.Errorf("%s: from the API: %v", target, fromAPI)
		}
	}

	file, err := os.Create(filepath.Join(own, "public/assets/app.v1.js.gz"))
	if err != nil {
		t.Fatal(err)
	}
	w := gzip.NewWriter(file)
	if _, err := io.WriteString(w, "compressed"); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	a, err := c.Get(p.url() + "/assets/app.v1.js") // the client accepts gzip, and decodes it
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	if body, err := io.ReadAll(a.Body); err != nil || string(body) != "compressed" || !a.Uncompressed {
		t.Errorf("with a compressed file: %q, %v", body, err)
	}
}
