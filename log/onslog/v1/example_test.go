package log_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"time"

	// Only this line changes. It was "github.com/ONSdigital/log.go/log".
	"github.com/weirhq/weir/log/onslog/v1"
)

var (
	aTime  = regexp.MustCompile(`\d{4}-[-0-9]+T[0-9:.]+Z`)
	frames = regexp.MustCompile(`"stack_trace":\[\{.*?\}\]`)
)

// show calls do and prints the lines that it logs, with each time replaced by
// TIME and without stack frames.
func show(do func()) {
	defer func(s string) { log.Namespace = s }(log.Namespace)
	log.Namespace = "dp-frontend-router"
	var b bytes.Buffer
	log.SetDestination(&b, nil)
	defer log.SetDestination(os.Stdout, nil)
	do()
	line := aTime.ReplaceAllString(b.String(), "TIME")
	fmt.Print(frames.ReplaceAllString(line, `"stack_trace":[...]`))
}

// A service that uses log.go needs no further change.
func Example() {
	show(func() {
		ctx := context.Background()
		log.Event(ctx, "connecting to database", log.INFO, log.Data{"host": "db-1", "attempt": 2})
		log.Event(ctx, "signed in", log.Auth(log.USER, "jane"))
	})
	// Output:
	// {"created_at":"TIME","namespace":"dp-frontend-router","event":"connecting to database","severity":3,"data":{"attempt":2,"host":"db-1"}}
	// {"created_at":"TIME","namespace":"dp-frontend-router","event":"signed in","auth":{"identity":"jane","identity_type":"user"}}
}

func ExampleEvent() {
	show(func() {
		log.Event(context.Background(), "cache is cold", log.WARN, log.Data{"keys": 0})
	})
	// Output:
	// {"created_at":"TIME","namespace":"dp-frontend-router","event":"cache is cold","severity":2,"data":{"keys":0}}
}

func ExampleHTTP() {
	req := httptest.NewRequest("GET", "http://www.example.org:20000/economy?page=2", nil)
	start := time.Date(2026, 11, 21, 9, 30, 15, 0, time.UTC)
	end := start.Add(5 * time.Millisecond)
	show(func() {
		log.Event(req.Context(), "request completed", log.HTTP(req, 200, 48213, &start, &end))
	})
	// Output:
	// {"created_at":"TIME","namespace":"dp-frontend-router","event":"request completed","http":{"status_code":200,"method":"GET","scheme":"http","host":"www.example.org","port":20000,"path":"/economy","query":"page=2","started_at":"TIME","ended_at":"TIME","duration":5000000,"response_content_length":48213}}
}

func ExampleError() {
	show(func() {
		log.Event(context.Background(), "could not connect", log.ERROR, log.Error(&net.AddrError{Err: "refused", Addr: "db-1"}))
	})
	// Output:
	// {"created_at":"TIME","namespace":"dp-frontend-router","event":"could not connect","severity":1,"error":{"message":"address db-1: refused","stack_trace":[...],"data":{"Err":"refused","Addr":"db-1"}}}
}

func ExampleAuth() {
	show(func() {
		log.Event(context.Background(), "import started", log.Auth(log.SERVICE, "importer"))
	})
	// Output:
	// {"created_at":"TIME","namespace":"dp-frontend-router","event":"import started","auth":{"identity":"importer","identity_type":"service"}}
}

func ExampleMiddleware() {
	h := log.Middleware(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNoContent)
	}))
	var b bytes.Buffer
	log.SetDestination(&b, nil)
	defer log.SetDestination(os.Stdout, nil)
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/economy", nil))
	for _, event := range regexp.MustCompile(`"event":"[^"]*"|"status_code":\d+`).FindAllString(b.String(), -1) {
		fmt.Println(event)
	}
	// Output:
	// "event":"http request received"
	// "status_code":0
	// "event":"http request completed"
	// "status_code":204
}

// The destination may be any writer that accepts one line per Write, such as a
// queue, so that the service does not wait for the reader of its log.
func ExampleSetDestination() {
	var b bytes.Buffer
	log.SetDestination(&b, nil)
	defer log.SetDestination(os.Stdout, nil)
	log.Event(context.Background(), "ready")
	fmt.Println(bytes.Count(b.Bytes(), []byte("\n")), "line")
	// Output: 1 line
}
