package httplog_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/httplog"
)

// briefly prints the parts of an event that are the same in each run.
type briefly struct{}

func (briefly) Write(line []byte) (int, error) {
	var e event
	if err := json.Unmarshal(line, &e); err != nil {
		return 0, err
	}
	fmt.Printf("%s: trace id %s, path %q, route %q\n", e.Event, e.TraceID, e.HTTP.Path, e.HTTP.Route)
	return len(line), nil
}

func ExampleMiddleware() {
	logger := log.New(briefly{}, log.Options{Namespace: "datasets"})
	mux := http.NewServeMux()
	mux.HandleFunc("GET /datasets/{id}", func(w http.ResponseWriter, r *http.Request) {
		log.From(r.Context()).Info("looking up dataset").Str("id", r.PathValue("id")).Send()
		io.WriteString(w, "a dataset")
	})
	server := httptest.NewServer(httplog.Middleware(logger, httplog.Options{})(mux))
	defer server.Close()

	r, err := http.NewRequest("GET", server.URL+"/datasets/cpih", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	r.Header.Set("X-Request-Id", "an-id")
	if answer, err := server.Client().Do(r); err == nil {
		answer.Body.Close()
	}
	// Output:
	// http request received: trace id an-id, path "/datasets/cpih", route ""
	// looking up dataset: trace id an-id, path "", route ""
	// http request completed: trace id an-id, path "/datasets/cpih", route "GET /datasets/{id}"
}

// The events of the request that failed are written, and those of the other one are not.
func ExampleKeep() {
	logger := log.New(briefly{}, log.Options{Namespace: "datasets"})
	keep := &httplog.Keep{SlowerThan: time.Second}
	o := httplog.Options{Events: httplog.EventsCompleted, Keep: keep}
	h := httplog.Middleware(logger, o)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		log.From(r.Context()).Info("looking up dataset").Send()
		if r.URL.Path == "/broken" {
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	for _, path := range []string{"/whole", "/broken"} {
		r := httptest.NewRequest("GET", path, nil)
		r.Header.Set("X-Request-Id", path[1:])
		h.ServeHTTP(httptest.NewRecorder(), r)
	}
	fmt.Println(keep.Counts.Discarded(), "event was discarded")
	// Output:
	// http request completed: trace id whole, path "/whole", route ""
	// looking up dataset: trace id broken, path "", route ""
	// http request completed: trace id broken, path "/broken", route ""
	// 1 event was discarded
}

func ExampleRequest() {
	r := httptest.NewRequest("GET", "http://example.com:8080/datasets?q=cpih", nil)
	h := httplog.Request(r)
	fmt.Println(h.Method, h.Host, h.Port, h.Path, h.Query)
	// Output:
	// GET example.com 8080 /datasets q=cpih
}

func ExampleTraceID() {
	h := httplog.Middleware(nil, httplog.Options{})(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Request-Id", httplog.TraceID(r.Context()))
	}))
	r := httptest.NewRequest("GET", "/", nil)
	r.Header.Set("Traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	fmt.Println(w.Header().Get("X-Request-Id"))
	// Output:
	// 4bf92f3577b34da6a3ce929d0e0e4736
}
