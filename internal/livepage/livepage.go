// Package livepage has the parts of pages that show a program while it runs: scripts for charts, a heatmap and tables,
// their style, and the rules that keep other sites away. The page itself belongs to the program: index.html, main.js
// and what else it needs.
package livepage

import (
	"embed"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/weirhq/weir/internal/page"
)

//go:embed web
var web embed.FS

// Handle adds what a page loads below a prefix such as /dashboard/: style.css, the scripts of this package and those of
// own, whose folder web also has index.html and styles. It returns the handler of index.html.
func Handle(mux *http.ServeMux, prefix string, own fs.FS) http.Handler {
	style := ""
	for _, files := range []fs.FS{web, own} {
		for _, name := range names(files, "web/*.js") {
			mux.Handle("GET "+path.Join(prefix, path.Base(name)), Private(content("text/javascript", text(files, name))))
		}
		for _, name := range names(files, "web/*.css") {
			style += text(files, name)
		}
	}
	css := string(page.NewSheet("", nil, style, "").CSS)
	mux.Handle("GET "+path.Join(prefix, "style.css"), Private(content("text/css", css)))
	return Private(content("text/html", text(own, "web/index.html")))
}

// names returns the files with names that match a pattern.
func names(files fs.FS, pattern string) []string {
	list, err := fs.Glob(files, pattern)
	if err != nil {
		panic(err) // the pattern is malformed
	}
	return list
}

// text returns an embedded file.
func text(files fs.FS, name string) string {
	b, err := fs.ReadFile(files, name)
	if err != nil {
		panic(err) // the file is not in the tree
	}
	return string(b)
}

// content responds with a text.
func content(kind, text string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", kind+"; charset=utf-8")
		w.Header().Set("Cache-Control", "no-cache")
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(text))
	})
}

// policy lets the page load its own files and nothing else, run no script of its text, and be in no other page.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Private adds the fields that keep other sites away.
func Private(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Frame-Options", "DENY")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		next.ServeHTTP(w, r)
	})
}
