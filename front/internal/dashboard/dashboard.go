// Package dashboard has the page that shows a front door while it runs, and the snapshots that the page and weir top
// draw. A snapshot is made of the metrics, once a second for all viewers, and only while there is one.
package dashboard

import (
	"embed"
	"net/http"
	"strings"
	"time"

	"github.com/weirhq/weir/internal/livepage"
	"github.com/weirhq/weir/internal/snapshot"
)

//go:embed web
var web embed.FS

// A Dashboard serves the page and the snapshots of one front door.
type Dashboard struct {
	from Sources
	feed feed
}

// New returns the dashboard of a front door.
func New(from Sources) *Dashboard {
	d := &Dashboard{from: from}
	d.feed.newReader = func() func(time.Time) *snapshot.Door {
		r := reader{from: from}
		return r.read
	}
	return d
}

// Handle adds the page and what it loads. The page is GET / for browsers; others get the given index there.
func (d *Dashboard) Handle(mux *http.ServeMux, index http.HandlerFunc) {
	for path, page := range map[string]http.Handler{
		"/events": &d.feed, "/failures": failures(d.from.Failures), "/log/events": eventsOf(&d.from),
		"/log/tail": tail(&d.from),
	} {
		mux.Handle("GET "+path, livepage.Private(page))
	}
	html := livepage.Handle(mux, "/dashboard/", web)
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Vary", "Accept")
		if strings.Contains(r.Header.Get("Accept"), "text/html") {
			html.ServeHTTP(w, r)
			return
		}
		index(w, r)
	})
}
