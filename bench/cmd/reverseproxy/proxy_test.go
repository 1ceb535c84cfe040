package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/rs/zerolog"
)

// TestProxyLogsTheThreeEvents checks that the peer logs as much as Weir, because the comparison would be unfair
// otherwise: three complete lines with the trace id that upstream and client got.
func TestProxyLogsTheThreeEvents(t *testing.T) {
	var upstreamID string
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		upstreamID = r.Header.Get("X-Request-Id")
		http.Error(w, "no such page", http.StatusNotFound)
	}))
	defer upstream.Close()
	target, err := url.Parse(upstream.URL)
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	front := httptest.NewServer(newProxy(target, zerolog.New(&log), 256))
	res, err := http.Get(front.URL + "/a/b?c=d")
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	front.Close() // and therefore the handler, which logs last

	if res.StatusCode != http.StatusNotFound || string(body) != "no such page\n" {
		t.Errorf("got %s %q", res.Status, body)
	}
	id := res.Header.Get("X-Request-Id")
	if id == "" || id != upstreamID {
		t.Errorf("client got trace id %q, upstream %q", id, upstreamID)
	}
	checkEvents(t, log.Bytes(), id, target.String())
}

func checkEvents(t *testing.T, log []byte, id, destination string) {
	t.Helper()
	lines := bytes.Split(bytes.TrimSuffix(log, []byte("\n")), []byte("\n"))
	want := []struct {
		event    string
		status   float64
		httpKeys int
	}{{"http request received", 0, 8}, {"proxying request", 0, 7}, {"http request completed", 404, 15}}
	if len(lines) != len(want) {
		t.Fatalf("got %d lines, want %d:\n%s", len(lines), len(want), log)
	}
	for i, line := range lines {
		var got struct {
			Event   string `json:"event"`
			TraceID string `json:"trace_id"`
			HTTP    map[string]any
			Data    map[string]any
		}
		if err := json.Unmarshal(line, &got); err != nil {
			t.Fatal(err)
		}
		if got.Event != want[i].event || got.TraceID != id || got.HTTP["status_code"] != want[i].status ||
			len(got.HTTP) != want[i].httpKeys {
			t.Errorf("line %d: got %s, want %+v", i, line, want[i])
		}
		if i == 1 && (got.Data["destination"] != destination || got.Data["proxy_name"] != "backend") {
			t.Errorf("line %d: got data %v", i, got.Data)
		}
	}
}
