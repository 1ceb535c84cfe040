package otlpsink_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/otlpsink"
	"github.com/weirhq/weir/log/stream"
)

func Example() {
	// Instead of a Collector at http://localhost:4318.
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		fmt.Println(r.Method, r.URL.Path, r.Header.Get("Content-Encoding"))
	}))
	defer collector.Close()

	to, err := otlpsink.New("otlp+" + collector.URL)
	if err != nil {
		panic(err)
	}
	out, err := stream.New(to, stream.Options{})
	if err != nil {
		panic(err)
	}
	logger := log.New(out, log.Options{Namespace: "shop"})
	logger.Info("order placed").Int("items", 3).Send()

	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := out.Close(ctx); err != nil {
		panic(err)
	}
	fmt.Println(out.Stats().Written, "delivered")
	// Output:
	// POST /v1/logs gzip
	// 1 delivered
}
