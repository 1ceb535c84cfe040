package main

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/testkit"
)

// TestPagesExampleRuns runs examples/pages. The site and the API respond with the status in the
// query, and at the end the site is down.
func TestPagesExampleRuns(t *testing.T) {
	t.Parallel()
	p := prepare(t, "serve", "--config", "../../examples/pages/weir.yaml", "--listen", "127.0.0.1:0", "--admin", "off")
	services := map[string]string{"SITE_URL": "text/html", "API_URL": "application/json"}
	servers := map[string]*httptest.Server{}
	text := strings.Repeat("a page ", 500)
	for variable, contentType := range services {
		s := testkit.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", contentType)
			if r.URL.RawQuery != "" {
				w.WriteHeader(500)
			}
			io.WriteString(w, text)
		}))
		servers[variable] = s
		p.cmd.Env = append(p.cmd.Env, variable+"="+s.URL)
	}
	if err := p.start(); err != nil {
		t.Fatal(err)
	}
	c := client(t)
	for _, r := range []struct {
		target, accept, cookie string
		status                 int
		contains, encoding     string
	}{
		{"/", "text/html", "", 200, text, "gzip"},
		{"/", "text/html", "id=1", 200, text, ""},
		{"/account/", "text/html", "", 200, text, ""},
		{"/?fail", "text/html", "", 500, "<h1>Something went wrong</h1>", ""},
		{"/api/", "", "", 200, text, "gzip"},
		{"/api/", "", "id=1", 200, text, "gzip"},
		{"/api/?fail", "", "", 500, text, "gzip"},
		{"/forum/", "text/html", "", 503, "<h1>The forum moves</h1>", ""},
		{"/shop/basket", "text/html", "", 410, "<h1>Something went wrong</h1>", ""},
		{"/shop/basket", "application/json", "", 410, `{"error": "see the status"}`, ""},
	} {
		req, err := http.NewRequest("GET", p.url()+r.target, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Accept-Encoding", "gzip")
		req.Header.Set("Accept", r.accept)
		if r.cookie != "" {
			req.Header.Set("Cookie", r.cookie)
		}
		a, err := c.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body := io.Reader(a.Body)
		if a.Header.Get("Content-Encoding") == "gzip" {
			if body, err = gzip.NewReader(body); err != nil {
				t.Fatal(err)
			}
		}
		got, err := io.ReadAll(body)
		if encoding := a.Header.Get("Content-Encoding"); err != nil || a.StatusCode != r.status || encoding != r.encoding ||
			!strings.Contains(string(got), r.contains) {
			t.Errorf("%s, Accept %q: %s, %q, %.50q, %v; want %d, %q, %.50q", r.target, r.accept, a.Status, encoding, got, err,
				r.status, r.encoding, r.contains)
		}
		a.Body.Close()
	}
	servers["SITE_URL"].Close()
	a, err := c.Get(p.url() + "/")
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	if got, err := io.ReadAll(a.Body); err != nil || a.StatusCode != 503 || a.Header.Get("Retry-After") != "30" ||
		!strings.Contains(string(got), "<h1>Back soon</h1>") {
		t.Errorf("without the site: %s, Retry-After %q, %.100q, %v", a.Status, a.Header.Get("Retry-After"), got, err)
	}
}
