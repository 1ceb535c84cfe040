package labservice

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// listen serves h on a free port until the test ends or cancel is called. ended receives the result of serve.
func listen(t *testing.T, h http.Handler) (url string, cancel func(), ended <-chan error) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- serve(ctx, l, h) }()
	return "http://" + l.Addr().String(), cancel, done
}

func get(t *testing.T, url string) (status int, body string) {
	t.Helper()
	res, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

func TestServiceHasItsOwnPages(t *testing.T) {
	seen := make(chan string, 10)
	url, _, _ := listen(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen <- r.URL.Path }))
	for _, c := range []struct{ path, want string }{
		{"/healthz", ""}, {"/debug/vars", `"memstats"`}, {"/debug/pprof/", "goroutine"},
		{"/debug/pprof/heap?debug=1", "heap profile"},
	} {
		if status, body := get(t, url+c.path); status != 200 || !strings.Contains(body, c.want) {
			t.Errorf("%s: got %d and %.100q, want 200 with %q", c.path, status, body, c.want)
		}
	}
	get(t, url+"/page")
	if got := <-seen; got != "/page" {
		t.Errorf("the handler saw %s, want only /page", got)
	}
}

func TestResponsesUnderWayAreFinished(t *testing.T) {
	began, release := make(chan bool), make(chan bool)
	url, cancel, ended := listen(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(began)
		<-release
		io.WriteString(w, "done")
	}))
	received := make(chan string, 1)
	go func() {
		_, body := get(t, url)
		received <- body
	}()
	<-began
	cancel()
	close(release)
	if got := <-received; got != "done" {
		t.Errorf("got %q, want the whole response", got)
	}
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Error("the service did not end")
	}
}

func TestMeasuresAreLeftWhereTheEnvironmentSays(t *testing.T) {
	t.Setenv(MeasuresFile, "")
	if err := Leave([]Measure{{Name: "x"}}); err != nil {
		t.Errorf("without a file: %v", err)
	}
	file := filepath.Join(t.TempDir(), "measures.json")
	t.Setenv(MeasuresFile, file)
	if err := Leave([]Measure{{Name: "log call p99", Unit: "us", Value: 12.5}, {Name: "lines", Value: 3,
		Better: "neither"}}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got []map[string]any
	if err := json.Unmarshal(text, &got); err != nil || len(got) != 2 || got[0]["value"] != 12.5 ||
		got[0]["unit"] != "us" || got[1]["better"] != "neither" {
		t.Errorf("got %s, %v", text, err)
	}
}
