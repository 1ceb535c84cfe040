package log_test

import (
	"context"
	"errors"
	"fmt"
	stdlog "log"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/log/onslog/v1"
)

func TestEvent(t *testing.T) {
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
		{"nothing but the event", func() { log.Event(ctx, "a <b>") }, `"event":"a \u003cb\u003e"`},
		{"no context", func() { log.Event(none, "e", log.INFO) }, `"event":"e","severity":3`},
		{"fatal", func() { log.Event(ctx, "e", log.FATAL) }, `"event":"e","severity":0`},
		{"the last severity", func() { log.Event(ctx, "e", log.FATAL, log.WARN) }, `"event":"e","severity":2`},
		{"auth", func() { log.Event(ctx, "e", log.Auth(log.USER, "me")) }, `"event":"e","auth":{"identity":"me","identity_type":"user"}`},
		{"data", func() { log.Event(ctx, "e", log.Data{"b": 1, "a": log.Data{"x": nil}}) }, `"event":"e","data":{"a":{"x":null},"b":1}`},
		{"request received", func() { log.Event(ctx, "e", log.HTTP(req, 0, 0, &start, nil)) },
			`"event":"e","http":{"status_code":0,"method":"GET","scheme":"http","host":"www.example.org","port":20000,"path":"/a b",` +
				`"query":"page=2\u0026x=\u003c1\u003e","started_at":"2026-11-21T09:30:15.123456789Z"}`},
		{"request completed", func() { log.Event(ctx, "e", log.ERROR, log.HTTP(req, 200, 48213, &start, &end)) },
			`"event":"e","severity":1,"http":{"status_code":200,"method":"GET","scheme":"http","host":"www.example.org","port":20000,` +
				`"path":"/a b","query":"page=2\u0026x=\u003c1\u003e","started_at":"2026-11-21T09:30:15.123456789Z",` +
				`"ended_at":"2026-11-21T09:30:15.128456789Z","duration":5000000,"response_content_length":48213}`},
		{"nil error", func() { log.Event(ctx, "e", log.Error(nil)) }, `"event":"e"`},
		{"nil option", func() { log.Event(ctx, "e", nil) }, `"event":"e"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := `{"namespace":"front",` + c.want + "}\n"
			if got := logged(t, c.do); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

type codeError struct {
	Code int `json:"code"`
}

func (codeError) Error() string { return "refused" }

type listError []string

func (listError) Error() string { return "several" }

type nilError struct{}

func (*nilError) Error() string { return "nil, and says so" }

func TestErrorHasMessageStackAndData(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		want string
	}{
		{"struct", codeError{7}, `"message":"refused",STACK,"data":{"code":7}`},
		{"pointer to struct", &codeError{7}, `"message":"refused",STACK,"data":{"code":7}`},
		{"opaque", errors.New("<x>"), `"message":"\u003cx\u003e",STACK,"data":{}`},
		{"something else", listError{"a"}, `"message":"several",STACK,"data":{"value":["a"]}`},
		{"nil pointer", (*nilError)(nil), `"message":"nil, and says so",STACK,"data":null`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := logged(t, func() { log.Event(context.Background(), "e", log.Error(c.err)) })
			if !strings.Contains(got, `v1_test.TestErrorHasMessageStackAndData.`) {
				t.Errorf("the stack of %s does not name this test", got)
			}
			got = stack.ReplaceAllLiteralString(got, "STACK")
			if want := `"error":{` + c.want + "}}\n"; !strings.HasSuffix(got, want) {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

var stack = regexp.MustCompile(`"stack_trace":\[\{.*?\}\]`)

// endless is an error whose MarshalJSON fails with the same error.
type endless struct{}

func (e endless) Error() string                { return "endless" }
func (e endless) MarshalJSON() ([]byte, error) { return nil, e }

func TestWhatJSONCannotExpressIsSaid(t *testing.T) {
	for _, c := range []struct {
		name string
		v    any
		want string
	}{
		{"channel", make(chan int), "json: unsupported type: chan int"},
		{"error that is its own reason", endless{}, "json: error calling MarshalJSON for type log_test.endless: endless"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := logged(t, func() { log.Event(context.Background(), "reading", log.WARN, log.Data{"v": c.v}) })
			if strings.Count(got, "\n") != 1 {
				t.Fatalf("got %q, want one line", got)
			}
			for _, want := range []string{`"event":"error marshalling event data"`, c.want, `"data":{"event_data":"{CreatedAt:`} {
				if !strings.Contains(got, want) {
					t.Errorf("got %s, want it to contain %s", got, want)
				}
			}
		})
	}
}

type embeds struct{ log.Data }

func TestOptionThatIsIgnoredIsNamed(t *testing.T) {
	got := logged(t, func() { log.Event(context.Background(), "e", embeds{log.Data{"a": 1}}) })
	want := `"event":"log option ignored","severity":2,"data":{"of":"e"}}`
	if strings.Count(got, "\n") != 2 || !strings.Contains(got, want) {
		t.Errorf("got %s, want a second line with %s", got, want)
	}
}

func TestStandardLogBecomesEvents(t *testing.T) {
	got := logged(t, func() { stdlog.Printf(" line %d\n", 7) })
	if want := `"event":"third party logs","data":{"raw":"line 7"}}` + "\n"; !strings.HasSuffix(got, want) {
		t.Errorf("got %s, want it to end with %s", got, want)
	}
}

func TestMiddlewareLogsAlsoWhenTheHandlerPanics(t *testing.T) {
	got := logged(t, func() {
		defer func() { _ = recover() }()
		h := log.Middleware(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("no") }))
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
	})
	for _, want := range []string{`"event":"http request received"`, `"event":"http request completed"`} {
		if strings.Count(got, want) != 1 {
			t.Errorf("got %s, want it to contain %s once", got, want)
		}
	}
}

func TestAnswerOfMiddlewareIsLogged(t *testing.T) {
	got := logged(t, func() {
		h := log.Middleware(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "gone", http.StatusGone) }))
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
	})
	for _, want := range []string{`"status_code":410`, `"response_content_length":5`, `"duration":`} {
		if !strings.Contains(got, want) {
			t.Errorf("got %s, want it to contain %s", got, want)
		}
	}
}

func TestManyGoroutinesLogAtOnce(t *testing.T) {
	const goroutines, each = 8, 50
	got := logged(t, func() {
		done := make(chan struct{})
		for g := range goroutines {
			go func() {
				defer func() { done <- struct{}{} }()
				for i := range each {
					log.Event(context.Background(), "e", log.Data{"n": fmt.Sprint(g, i)}, log.Error(codeError{i}))
				}
			}()
		}
		for range goroutines {
			<-done
		}
	})
	if n := strings.Count(got, "\n"); n != goroutines*each {
		t.Errorf("%d lines, want %d", n, goroutines*each)
	}
}
