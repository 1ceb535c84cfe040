// Command shop-proxy forwards requests to the servers of a shop, and logs each of them.
package main

import (
	"net"
	"net/http"
	"os"
	"time"

	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/httplog"
	"github.com/weirhq/weir/log/sink"
	"github.com/weirhq/weir/proxy"
)

func main() {
	logger := log.New(sink.NewDirect(os.Stdout), log.Options{Namespace: "shop-proxy"})
	logger.Error("cannot serve").Err(run(logger, os.Args[1], os.Args[2:])).Send()
	os.Exit(1)
}

// run serves requests at an address. It returns only if that fails.
func run(logger *log.Logger, address string, urls []string) error {
	options := proxy.Options{ConnectRetry: time.Second}
	for _, url := range urls {
		options.Servers = append(options.Servers, proxy.Server{URL: url})
	}
	up, err := proxy.NewUpstream("shop", options)
	if err != nil {
		return err
	}
	handler := &proxy.Proxy{Upstream: up, Done: func(r *http.Request, result proxy.Result) {
		if result.Err != nil {
			log.From(r.Context()).Warn("upstream failed").Str("server", result.Server).Err(result.Err).Send()
		}
	}}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	logger.Info("listening").Str("address", listener.Addr().String()).Send()
	return http.Serve(listener, httplog.Middleware(logger, httplog.Options{})(handler))
}
