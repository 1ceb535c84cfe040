package onslog_test

import (
	"bytes"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"

	dprequestV1 "github.com/ONSdigital/dp-net/request"
	original "github.com/ONSdigital/log.go/log"
	ours "github.com/weirhq/weir/log/onslog/v1"
)

func TestV1MiddlewareWritesTheSame(t *testing.T) {
	var b1, b2 bytes.Buffer
	originalV1 = &b1
	ours.SetDestination(&b2, nil)
	original.Namespace, ours.Namespace = "front", "front"
	them, us := timeless(lastOf(&b1)), timeless(lastOf(&b2))
	for name, h := range handlers {
		t.Run(name, func(t *testing.T) {
			req := httptest.NewRequest("GET", "http://www.example.org:20000/a%20b?<x>=1", nil)
			req.Header.Set(dprequestV1.RequestHeaderKey, "kQmzRzXbTdWvPqLs")
			dprequestV1.HandlerRequestID(16)(original.Middleware(h)).ServeHTTP(httptest.NewRecorder(), req)
			dprequestV1.HandlerRequestID(16)(ours.Middleware(h)).ServeHTTP(httptest.NewRecorder(), req)
			got, want := us(), them()
			if got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			if strings.Count(got, `"trace_id":"kQmzRzXbTdWvPqLs"`) != 2 {
				t.Errorf("got\n%s\nwant two events with the id of the header", got)
			}
		})
	}
	original.Middleware(handlers["body"]).ServeHTTP(nil, nil)
	ours.Middleware(handlers["body"]).ServeHTTP(nil, nil)
	if got, want := us(), them(); got != want {
		t.Errorf("no request: got %s, want %s", got, want)
	}
}

func TestV1StacksAreTheSame(t *testing.T) {
	err := errors.New("refused")
	them, us := any(original.Error(err)), any(ours.Error(err)) // one line
	want, got := them.(*original.EventError).StackTrace, us.(*ours.EventError).StackTrace
	if len(got) != len(want) {
		t.Fatalf("got %v, want %v", got, want)
	}
	for i := range want {
		if got[i] != ours.EventStackTrace(want[i]) {
			t.Errorf("frame %d: got %v, want %v", i, got[i], want[i])
		}
	}
}
