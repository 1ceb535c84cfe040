package log

import (
	"io"
	"strings"
	"time"

	phuslu "github.com/phuslu/log"
	"github.com/weirhq/weir/log"
)

// The data of the case Journal: a path of 180 bytes, and the address of the upstream as encoding/json writes a url.URL.
// The requests alternate between two paths, so that no logger can reuse the text of the request before.
var longPaths = [...]string{longPath("september2026"), longPath("october20260")}

func longPath(last string) string {
	return "/economy/inflationandpriceindices/bulletins/" + strings.Repeat("consumerprices/", 20)[:135-len(last)] + "/" + last
}

func journalRows() []row {
	rows := []row{{name: Weir, ours: true, open: openWeirJournal}}
	for _, format := range []struct{ layout, note string }{{"", byPhusluMillis.note}, {time.RFC3339Nano, byPhuslu.note}} {
		rows = append(rows, row{name: byPhuslu.name, note: format.note, open: func(w io.Writer) func(int, *request) {
			return journal(openPhusluFormat(phuslu.IOWriter{Writer: w}, format.layout).journal.all)
		}})
	}
	return rows
}

// journal returns a function that does the work with n requests.
func journal(do func(*request)) func(n int, r *request) {
	return func(n int, r *request) {
		current := *r
		for i := range n {
			current.Path = longPaths[i%len(longPaths)]
			do(&current)
		}
	}
}

func openWeirJournal(w io.Writer) func(int, *request) {
	l := log.New(w, log.Options{Namespace: namespace})
	var encoded log.EncodedHTTP
	return journal(func(r *request) {
		http := weirHTTP(r)
		http.Encoded = &encoded
		weirReceived(l, r, &http)
		l.Info(proxying).TraceID(traceID).HTTP(&http).Object("destination", func(e log.Event) {
			e.Str("Scheme", "http").Str("Opaque", "").Any("User", nil).Str("Host", "127.0.0.1:8080").Str("Path", r.Path).
				Str("RawPath", "").Bool("OmitHost", false).Bool("ForceQuery", false).Str("RawQuery", r.Query).
				Str("Fragment", "").Str("RawFragment", "")
		}).Str("proxy_name", r.Proxy).Send()
		weirCompleted(l, r, &http)
	})
}

type (
	phusluAddress       request
	phusluJournalTarget request
)

func (r *phusluAddress) MarshalObject(e *phuslu.Entry) {
	e.Str("Scheme", "http").Str("Opaque", "").Any("User", nil).Str("Host", "127.0.0.1:8080").Str("Path", r.Path).
		Str("RawPath", "").Bool("OmitHost", false).Bool("ForceQuery", false).Str("RawQuery", r.Query).
		Str("Fragment", "").Str("RawFragment", "")
}

func (r *phusluJournalTarget) MarshalObject(e *phuslu.Entry) {
	e.Object("destination", (*phusluAddress)(r)).Str("proxy_name", r.Proxy)
}
