package onslog_test

import (
	"io"
	"net/http"
	"net/url"
	"testing"
	"time"

	dprequest "github.com/ONSdigital/dp-net/v3/request"
	original "github.com/ONSdigital/log.go/v2/log"
	ours "github.com/weirhq/weir/log/onslog/v2"
)

var proxied = &http.Request{Method: "GET", URL: &url.URL{
	Scheme: "http", Host: "www.example.org:20000",
	Path:     "/economy/inflationandpriceindices/bulletins/consumerpriceinflation/september2026",
	RawQuery: "page=2&filter=all",
}}

// BenchmarkThreeEvents logs the three events of a request like a front-end router.
func BenchmarkThreeEvents(b *testing.B) {
	original.SetDestination(io.Discard, nil)
	ours.SetDestination(io.Discard, nil)
	ctx := dprequest.WithRequestId(b.Context(), "kQmzRzXbTdWvPqLs")
	upstream := &url.URL{Scheme: "http", Host: "127.0.0.1:8080"}
	names := []string{"babbage"}
	b.Run("log.go", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			start := time.Now().UTC()
			original.Info(ctx, "http request received", original.HTTP(proxied, 0, 0, &start, nil))
			original.Info(ctx, "proxying request", original.HTTP(proxied, 0, 0, nil, nil), original.Data{
				"destination": upstream.Host, "proxy_name": names[0],
			})
			end := time.Now().UTC()
			original.Info(ctx, "http request completed", original.HTTP(proxied, 200, 48213, &start, &end))
		}
	})
	b.Run("onslog", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			start := time.Now().UTC()
			ours.Info(ctx, "http request received", ours.HTTP(proxied, 0, 0, &start, nil))
			ours.Info(ctx, "proxying request", ours.HTTP(proxied, 0, 0, nil, nil), ours.Data{
				"destination": upstream.Host, "proxy_name": names[0],
			})
			end := time.Now().UTC()
			ours.Info(ctx, "http request completed", ours.HTTP(proxied, 200, 48213, &start, &end))
		}
	})
}
