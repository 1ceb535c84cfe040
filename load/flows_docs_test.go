package load_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/weirhq/weir/load"
	"github.com/weirhq/weir/load/target"
)

// TestFlowsOfTheManualAreExecuted executes the page of docs/load-flows.md on a server that has its shop.
func TestFlowsOfTheManualAreExecuted(t *testing.T) {
	manual, err := os.ReadFile("../docs/load-flows.md")
	if err != nil {
		t.Fatal(err)
	}
	page := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindSubmatch(manual)
	if page == nil {
		t.Fatal("the manual has no page")
	}
	var orders atomic.Int64
	shop := http.NewServeMux()
	shop.HandleFunc("POST /products", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, `{"id": 7}`) })
	shop.HandleFunc("GET /products/7", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "a chair") })
	shop.HandleFunc("POST /login", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, `{"token": "%x"}`, body)
	})
	shop.HandleFunc("POST /orders", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if len(r.Header.Get("Authorization")) < 30 || !strings.HasPrefix(string(body), "product=7&number=") {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		n := orders.Add(1)
		w.Header().Set("Location", fmt.Sprint("/orders/", n))
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintf(w, "order %d", n)
	})
	shop.HandleFunc("GET /orders/{n}", func(w http.ResponseWriter, r *http.Request) {})
	s := newCounter(t, shop.ServeHTTP)
	r := run(t, load.Plan{Targets: []target.Target{{URL: s.URL}}, Flows: parseFlows(t, string(page[1])), Connections: 1, Threads: 1,
		Requests: 40, Process: -1}) // four times three flows with three requests and one with one
	if r.Requests != 40 || r.Status["2xx"] != 40 || orders.Load() != 12 || s.asked.Load() != 41 {
		t.Errorf("%d answered, %v, errors %v; the server got %d orders and %d requests", r.Requests, r.Status, r.Errors, orders.Load(),
			s.asked.Load())
	}
}
