package log_test

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/weirhq/weir/log/onslog/v1"
)

func BenchmarkThree(b *testing.B) {
	log.SetDestination(io.Discard, nil)
	ctx := context.Background()
	req := &http.Request{Method: "GET", URL: &url.URL{Scheme: "http", Host: "www.example.org:20000", Path: "/economy/inflationandpriceindices", RawQuery: "page=2"}}
	dest, name := "http://127.0.0.1:8080", []string{"babbage"}
	b.ReportAllocs()
	for b.Loop() {
		start := time.Now().UTC()
		log.Event(ctx, "http request received", log.HTTP(req, 0, 0, &start, nil))
		log.Event(ctx, "proxying request", log.INFO, log.HTTP(req, 0, 0, nil, nil), log.Data{"destination": dest, "proxy_name": name[0]})
		end := time.Now().UTC()
		log.Event(ctx, "http request completed", log.HTTP(req, 200, 48213, &start, &end))
	}
}
