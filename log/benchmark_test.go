package log_test

import (
	"errors"
	"io"
	"testing"
	"time"

	"github.com/weirhq/weir/log"
)

var aRequest = log.HTTP{
	StatusCode: 200,
	Method:     "GET",
	Scheme:     "http",
	Host:       "www.example.com",
	Port:       20000,
	Path:       "/economy/inflationandpriceindices/timeseries/d7bt/mm23",
	Query:      "referrer=search&searchTerm=cpi",
	StartedAt:  time.Date(2026, 11, 21, 2, 6, 14, 123456789, time.UTC),
	EndedAt:    time.Date(2026, 11, 21, 2, 6, 14, 133456789, time.UTC),
	Duration:   10 * time.Millisecond,

	ResponseContentLength: 18034,
	Route:                 "/{uri...}",
	Client:                "192.0.2.17:41234",
	Protocol:              "HTTP/1.1",
	UserAgent:             "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
}

var errRefused = errors.New("dial tcp 127.0.0.1:8080: connect: connection refused")

// tenFields adds one field of each of ten kinds.
func tenFields(e log.Event) log.Event {
	return e.
		Str("method", "GET").
		Str("path", "/economy/inflationandpriceindices").
		Int("status", 200).
		Int64("bytes", 18034).
		Float64("ratio", 0.375).
		Bool("cached", true).
		Dur("took", 1234567*time.Nanosecond).
		Uint64("sequence", 1234567890).
		Str("client", "192.0.2.17").
		Str("agent", "curl/8.5.0")
}

func BenchmarkEvent(b *testing.B) {
	logger := log.New(io.Discard, log.Options{Namespace: "front-door"})
	request := logger.With().TraceID("abcdefghijklmnop").Str("tenant", "ons").Logger()
	now := time.Now()
	address := "192.0.2.17:41234"

	for name, run := range map[string]func(){
		"empty":    func() { logger.Info("http request received").Send() },
		"at":       func() { logger.Info("http request received").At(now).Send() },
		"disabled": func() { tenFields(logger.Debug("http request received")).Send() },
		"ten":      func() { tenFields(logger.Info("http request received")).Send() },
		"http": func() {
			logger.Info("http request completed").TraceID("abcdefghijklmnop").HTTP(&aRequest).At(now).Send()
		},
		"with": func() { request.Info("http request received").Int("n", 1).Send() },
		"error": func() {
			logger.Error("could not connect").Str("host", address).Err(errRefused).Send()
		},
		"nested": func() {
			logger.Info("nested").Object("a", func(e log.Event) {
				e.Int("x", 1).Array("list", func(e log.Event) { e.Str("", address).Int("", 2) })
			}).Send()
		},
		"escaped": func() { logger.Info("escaped").Str("q", "a\tb\"c\"\x1b[31m ünïcödé 日本語").Send() },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				run()
			}
		})
	}
}
