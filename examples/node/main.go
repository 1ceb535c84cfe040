// Command node is the Go service of this example: the orders of a shop. It asks the stock, a service in Node, through
// the front door.
package main

import (
	"cmp"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"

	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/httplog"
)

func main() {
	logger := log.New(os.Stdout, log.Options{Namespace: "orders"})
	door := cmp.Or(os.Getenv("DOOR_URL"), "http://127.0.0.1:20000")
	mux := http.NewServeMux()
	mux.HandleFunc("GET /orders/{id}", func(w http.ResponseWriter, r *http.Request) {
		count, err := stock(r, door+"/stock/teapot")
		if err != nil {
			log.From(r.Context()).Error("stock unknown").Err(err).Send()
			http.Error(w, "the stock is unknown", http.StatusBadGateway)
			return
		}
		log.From(r.Context()).Info("order found").Str("order", r.PathValue("id")).Str("in_stock", count).Send()
		fmt.Fprintf(w, "order %s: 1 teapot, of %s in stock\n", r.PathValue("id"), count)
	})

	listener, err := net.Listen("tcp", cmp.Or(os.Getenv("ORDERS_ADDR"), "127.0.0.1:8080"))
	if err == nil {
		logger.Info("listening").Str("address", listener.Addr().String()).Send()
		err = http.Serve(listener, httplog.Middleware(logger, httplog.Options{})(mux))
	}
	logger.Fatal("server failed").Err(err).Send()
	os.Exit(1)
}

// stock asks for a number with the trace id of the request r.
func stock(r *http.Request, url string) (string, error) {
	request, err := http.NewRequestWithContext(r.Context(), http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	request.Header.Set("X-Request-Id", httplog.TraceID(r.Context()))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	var count string
	if _, err := fmt.Fscan(io.LimitReader(response.Body, 100), &count); err != nil {
		return "", fmt.Errorf("stock responded with %s: %w", response.Status, err)
	}
	return count, nil
}
