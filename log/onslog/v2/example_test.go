package log_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"time"

	// Only this line changes. It was "github.com/ONSdigital/log.go/v2/log".
	"github.com/weirhq/weir/log/onslog/v2"
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
		log.Info(ctx, "connecting to database", log.Data{"host": "db-1", "attempt": 2})
		log.Error(ctx, "could not connect", errors.New("refused"))
	})
	// Output:
	// {"created_at":"TIME","namespace":"dp-frontend-router","event":"connecting to database","severity":3,"data":{"attempt":2,"host":"db-1"}}
	// {"created_at":"TIME","namespace":"dp-frontend-router","event":"could not connect","severity":1,"errors":[{"message":"refused","stack_trace":[...]}]}
}

func ExampleInfo() {
	req := httptest.NewRequest("GET", "http://www.example.org:20000/economy?page=2", nil)
	start := time.Date(2026, 11, 21, 9, 30, 15, 0, time.UTC)
	end := start.Add(5 * time.Millisecond)
	show(func() {
		log.Info(req.Context(), "request completed", log.HTTP(req, 200, 48213, &start, &end))
	})
	// Output:
	// {"created_at":"TIME","namespace":"dp-frontend-router","event":"request completed","severity":3,"http":{"status_code":200,"method":"GET","scheme":"http","host":"www.example.org","port":20000,"path":"/economy","query":"page=2","started_at":"TIME","ended_at":"TIME","duration":5000000,"response_content_length":48213}}
}

func ExampleWarn() {
	show(func() { log.Warn(context.Background(), "cache is cold", log.Data{"keys": 0}) })
	// Output:
	// {"created_at":"TIME","namespace":"dp-frontend-router","event":"cache is cold","severity":2,"data":{"keys":0}}
}

func ExampleError() {
	show(func() {
		err := &log.CustomError{Message: "refused", Data: map[string]any{"port": 5432}}
		log.Error(context.Background(), "could not connect", err)
	})
	// Output:
	// {"created_at":"TIME","namespace":"dp-frontend-router","event":"could not connect","severity":1,"errors":[{"message":"refused","stack_trace":[...],"data":{"port":5432}}]}
}

func ExampleFatal() {
	show(func() {
		log.Fatal(context.Background(), "cannot start", errors.New("no port"), log.Data{"tried": 3})
		// Here, the service exits.
	})
	// Output:
	// {"created_at":"TIME","namespace":"dp-frontend-router","event":"cannot start","severity":0,"data":{"tried":3},"errors":[{"message":"no port","stack_trace":[...]}]}
}

func ExampleFormatErrors() {
	show(func() {
		log.Warn(context.Background(), "some rows were skipped", log.FormatErrors([]error{errors.New("row 7"), errors.New("row 9")}))
	})
	// Output:
	// {"created_at":"TIME","namespace":"dp-frontend-router","event":"some rows were skipped","severity":2,"errors":[{"message":"row 7","stack_trace":[...]},{"message":"row 9","stack_trace":[...]}]}
}

func ExampleClassification() {
	show(func() {
		log.Info(context.Background(), "signed in", log.Classification(log.ProtectiveMonitoring), log.Auth(log.USER, "jane"))
	})
	// Output:
	// {"created_at":"TIME","namespace":"dp-frontend-router","event":"signed in","severity":3,"classification":"PROTECTIVE_MONITORING","auth":{"identity":"jane","identity_type":"user"}}
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

// The package comment has the two functions for OpenTelemetry. Any other
// function that finds the trace id of a context works as well.
func ExampleSetTracing() {
	type key struct{}
	log.SetTracing(log.Tracing{
		TraceID: func(ctx context.Context) string { id, _ := ctx.Value(key{}).(string); return id },
	})
	defer log.SetTracing(log.Tracing{})
	show(func() { log.Info(context.WithValue(context.Background(), key{}, "kQmzRzXb"), "ready") })
	// Output:
	// {"created_at":"TIME","namespace":"dp-frontend-router","event":"ready","trace_id":"kQmzRzXb","severity":3}
}

// The destination may be any writer that accepts one line per Write, such as a
// queue, so that the service does not wait for the reader of its log.
func ExampleSetDestination() {
	var b bytes.Buffer
	log.SetDestination(&b, nil)
	defer log.SetDestination(os.Stdout, nil)
	log.Info(context.Background(), "ready")
	fmt.Println(bytes.Count(b.Bytes(), []byte("\n")), "line")
	// Output: 1 line
}
