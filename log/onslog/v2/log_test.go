package log_test

import (
	"context"
	"errors"
	stdlog "log"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/log/onslog/v2"
)

func TestOptionsBecomePartsOfEvents(t *testing.T) {
	defer func(s string) { log.Namespace = s }(log.Namespace)
	log.Namespace = "front"
	req := httptest.NewRequest("GET", "http://www.example.org:20000/a%20b?page=2&x=<1>", nil)
	start := time.Date(2026, 11, 21, 9, 30, 15, 123456789, time.UTC)
	end := start.Add(5 * time.Millisecond)
	ctx := context.Background()
	var none context.Context
	for _, c := range []struct {
		name string
		do   func()
		want string
	}{
		{"info", func() { log.Info(ctx, "a <b>") }, `"event":"a \u003cb\u003e","severity":3`},
		{"warn", func() { log.Warn(ctx, "e") }, `"event":"e","severity":2`},
		{"error, nil", func() { log.Error(ctx, "e", nil) }, `"event":"e","severity":1`},
		{"fatal, nil", func() { log.Fatal(ctx, "e", nil, log.Data{}) }, `"event":"e","severity":0,"data":{}`},
		{"no context", func() { log.Event(none, "e", log.INFO) }, `"event":"e","severity":3`},
		{"severity as an option", func() { log.Info(ctx, "e", log.FATAL) }, `"event":"e","severity":0`},
		{"classification", func() { log.Info(ctx, "e", log.Classification(log.ProtectiveMonitoring)) },
			`"event":"e","severity":3,"classification":"PROTECTIVE_MONITORING"`},
		{"auth", func() { log.Info(ctx, "e", log.Auth(log.SERVICE, "s")) },
			`"event":"e","severity":3,"auth":{"identity":"s","identity_type":"service"}`},
		{"data", func() { log.Info(ctx, "e", log.Data{"b": 1, "a": log.Data{"x": nil}}) },
			`"event":"e","severity":3,"data":{"a":{"x":null},"b":1}`},
		{"request completed", func() { log.Info(ctx, "e", log.HTTP(req, 200, 48213, &start, &end)) },
			`"event":"e","severity":3,"http":{"status_code":200,"method":"GET","scheme":"http","host":"www.example.org","port":20000,` +
				`"path":"/a b","query":"page=2\u0026x=\u003c1\u003e","started_at":"2026-11-21T09:30:15.123456789Z",` +
				`"ended_at":"2026-11-21T09:30:15.128456789Z","duration":5000000,"response_content_length":48213}`},
		{"no errors", func() { log.Info(ctx, "e", log.FormatErrors([]error{nil})) }, `"event":"e","severity":3,"errors":null`},
		{"nil option", func() { log.Info(ctx, "e", nil) }, `"event":"e","severity":3`},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := `{"namespace":"front",` + c.want + "}\n"
			if got := logged(t, c.do); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

type codeError struct{ Code int }

func (codeError) Error() string { return "refused" }

type listError []string

func (listError) Error() string { return "several" }

var stack = regexp.MustCompile(`"stack_trace":\[\{.*?\}\]`)

func TestErrorsHaveMessageStackAndData(t *testing.T) {
	ctx := context.Background()
	custom := &log.CustomError{Message: "custom", Data: map[string]any{"code": 7}}
	for _, c := range []struct {
		name string
		do   func()
		want string
	}{
		{"struct", func() { log.Error(ctx, "e", codeError{7}) }, `[{"message":"refused",STACK}]`},
		{"opaque", func() { log.Fatal(ctx, "e", errors.New("<x>")) }, `[{"message":"\u003cx\u003e",STACK}]`},
		{"something else", func() { log.Error(ctx, "e", listError{"a"}) }, `[{"message":"several",STACK,"data":{"value":["a"]}}]`},
		{"custom", func() { log.Error(ctx, "e", custom) }, `[{"message":"custom",STACK,"data":{"code":7}}]`},
		{"custom without data", func() { log.Error(ctx, "e", &log.CustomError{}) }, `[{STACK,"data":null}]`},
		{"wrapped custom", func() { log.Error(ctx, "e", errors.Join(custom)) }, `[{"message":"custom",STACK}]`},
		{"several", func() { log.Warn(ctx, "e", log.FormatErrors([]error{codeError{1}, nil, custom})) },
			`[{"message":"refused",STACK},{"message":"custom",STACK,"data":{"code":7}}]`},
		{"the argument wins", func() { log.Error(ctx, "e", codeError{1}, log.FormatErrors([]error{custom})) }, `[{"message":"refused",STACK}]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := logged(t, c.do)
			if !strings.Contains(got, `v2_test.TestErrorsHaveMessageStackAndData.`) {
				t.Errorf("the stack of %s does not name this test", got)
			}
			got = stack.ReplaceAllLiteralString(got, "STACK")
			if want := `"errors":` + c.want + "}\n"; !strings.HasSuffix(got, want) {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

func TestInexpressibleValuesAreReported(t *testing.T) {
	got := logged(t, func() { log.Info(context.Background(), "reading", log.Data{"v": make(chan int)}) })
	if strings.Count(got, "\n") != 1 {
		t.Fatalf("got %q, want one line", got)
	}
	for _, want := range []string{`"event":"error marshalling event data","severity":1`, "json: unsupported type: chan int", `Event:reading`} {
		if !strings.Contains(got, want) {
			t.Errorf("got %s, want it to contain %s", got, want)
		}
	}
}

type embeds struct{ log.Data }

func TestOptionThatIsIgnoredIsNamed(t *testing.T) {
	got := logged(t, func() { log.Info(context.Background(), "e", embeds{log.Data{"a": 1}}) })
	want := `"event":"log option ignored","severity":2,"data":{"of":"e"}}`
	if strings.Count(got, "\n") != 2 || !strings.Contains(got, want) {
		t.Errorf("got %s, want a second line with %s", got, want)
	}
}

func TestStandardLogBecomesEvents(t *testing.T) {
	got := logged(t, func() { stdlog.Printf(" line %d\n", 7) })
	if want := `"event":"third party logs","severity":3,"data":{"raw":"line 7"}}` + "\n"; !strings.HasSuffix(got, want) {
		t.Errorf("got %s, want it to end with %s", got, want)
	}
}

type otherKey struct{}

// plainKey is the key for a request id that needs no package's own type.
var plainKey any = "request-id"

func TestTraceIDComesFromTracingOrContext(t *testing.T) {
	ctx := context.WithValue(context.Background(), plainKey, "from the request")
	traced := context.WithValue(ctx, otherKey{}, "from the trace")
	log.SetTracing(log.Tracing{TraceID: func(ctx context.Context) string { s, _ := ctx.Value(otherKey{}).(string); return s }})
	defer log.SetTracing(log.Tracing{})
	var none context.Context
	for _, c := range []struct {
		name string
		ctx  context.Context
		want string
	}{
		{"request", ctx, `"trace_id":"from the request"`},
		{"trace", traced, `"trace_id":"from the trace"`},
		{"neither", context.Background(), `"event":"e","severity"`},
		{"no context", none, `"event":"e","severity"`},
		{"no string", context.WithValue(context.Background(), plainKey, 7), `"event":"e","severity"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := logged(t, func() { log.Info(c.ctx, "e") }); !strings.Contains(got, c.want) {
				t.Errorf("got %s, want it to contain %s", got, c.want)
			}
		})
	}
}

func TestMiddlewareExtractsTheTraceFromHeaders(t *testing.T) {
	log.SetTracing(log.Tracing{
		TraceID: func(ctx context.Context) string { s, _ := ctx.Value(otherKey{}).(string); return s },
		Extract: func(ctx context.Context, h http.Header) context.Context {
			return context.WithValue(ctx, otherKey{}, h.Get("traceparent"))
		},
	})
	defer log.SetTracing(log.Tracing{})
	var inside any
	h := log.Middleware(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		inside = req.Context().Value(otherKey{})
		http.Error(w, "gone", http.StatusGone)
	}))
	req := httptest.NewRequest("GET", "/", nil)
	req.Header.Set("traceparent", "abc")
	got := logged(t, func() { h.ServeHTTP(httptest.NewRecorder(), req) })
	if n := strings.Count(got, `"trace_id":"abc"`); n != 2 {
		t.Errorf("%d of the events have the id, want 2:\n%s", n, got)
	}
	if !strings.Contains(got, `"status_code":410`) || !strings.Contains(got, `"response_content_length":5`) {
		t.Errorf("the answer is not in\n%s", got)
	}
	if inside != nil {
		t.Errorf("the handler's context has %v: it is to get the one that came", inside)
	}
}

func TestMiddlewareLogsAlsoWhenTheHandlerPanics(t *testing.T) {
	got := logged(t, func() {
		defer func() { _ = recover() }()
		h := log.Middleware(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("no") }))
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
	})
	if n := strings.Count(got, `"event":"http request completed"`); n != 1 {
		t.Errorf("got %d events of completion, want 1:\n%s", n, got)
	}
}
