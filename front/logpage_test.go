package front_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/internal/logfiles"
	"github.com/weirhq/weir/front/logto"
	"github.com/weirhq/weir/internal/testkit"
)

// openLoggingDoor starts a front door with a log to a destination of its configuration.
func openLoggingDoor(t *testing.T, to, format string) *testDoor {
	t.Helper()
	cfg := doorConfig(upstream(t, hello).URL, func(c *config.Config) { c.Log.To, c.Log.Format = []string{to}, format })
	out, err := logto.Open(cfg.Log.Config, logto.Options{Stdout: os.Stdout, Stderr: logfiles.Create(t, t.TempDir()+"/stderr")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // after the front door has ended; the context of the test has ended, too
		if err := out.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return serveDoor(t, cfg, out)
}

// A foundPage is the response to GET /log/events.
type foundPage struct {
	Events             []string
	File, Why, Command string
}

// find returns the events of a trace id.
func find(t *testing.T, d *testDoor, id string) (page foundPage) {
	t.Helper()
	_, text := get(t, httpClient(t), "http://"+d.AdminAddr().String()+"/log/events?trace_id="+url.QueryEscape(id))
	if err := json.Unmarshal([]byte(text), &page); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return page
}

// TestEventsOfOneRequestAreFound searches the file of the log for two of several requests, one of which has an id that is
// a command of a shell.
func TestEventsOfOneRequestAreFound(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"json", "ltsv"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "weir.log")
			d := openLoggingDoor(t, file, format)
			for _, id := range []string{"first", "$(reboot)", "third"} {
				r, err := http.NewRequest("GET", d.url("/of/"+id), nil)
				if err != nil {
					t.Fatal(err)
				}
				r.Header.Set("X-Request-Id", id)
				do(t, httpClient(t), r)
			}
			testkit.Await(t, "three events", func() bool { return len(find(t, d, "$(reboot)").Events) == 3 })
			page := find(t, d, "$(reboot)")
			for i, want := range []string{"http request received", "proxying request", "http request completed"} {
				if !strings.Contains(page.Events[i], want) || !strings.Contains(page.Events[i], "/of/") {
					t.Errorf("event %d is %q, want %q", i, page.Events[i], want)
				}
			}
			if want := "weir tail --around '$(reboot)' " + file; page.Command != want || page.Why != "" {
				t.Errorf("the command is %q, want %q; %s", page.Command, want, page.Why)
			}
			if page := find(t, d, "unknown"); len(page.Events) != 0 || page.File != file || page.Why != "" {
				t.Errorf("an unknown id: %+v", page)
			}
		})
	}
}

// TestPageSaysWhyThereAreNoEvents asks front doors with logs that cannot be searched.
func TestPageSaysWhyThereAreNoEvents(t *testing.T) {
	t.Parallel()
	for to, format := range map[string]string{"stderr": "json", filepath.Join(t.TempDir(), "human.log"): "human"} {
		d := openLoggingDoor(t, to, format)
		if page := find(t, d, "some-id"); page.Why == "" || page.Command != "weir tail --around some-id FILE" {
			t.Errorf("%s, %s: %+v", to, format, page)
		}
	}
}

// A tailBatch is an event of GET /log/tail.
type tailBatch struct {
	Events []struct {
		Text    string
		TraceID string `json:"trace_id"`
	}
	Examined, Skipped int
}

// tailOf opens a live tail. The function that it returns waits for the next batch.
func tailOf(t *testing.T, d *testDoor, condition string) func() tailBatch {
	t.Helper()
	resp, err := httpClient(t).Get("http://" + d.AdminAddr().String() + "/log/tail?where=" + url.QueryEscape(condition))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	if resp.StatusCode != 200 {
		t.Fatalf("the tail is %s", resp.Status)
	}
	lines := bufio.NewReader(resp.Body)
	return func() (b tailBatch) {
		t.Helper()
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			if text, found := strings.CutPrefix(line, "data: "); found {
				if err := json.Unmarshal([]byte(text), &b); err != nil {
					t.Fatal(err)
				}
				return b
			}
		}
	}
}

// TestLiveTailShowsWhatIsChosen follows the log before, during and after a reload.
func TestLiveTailShowsWhatIsChosen(t *testing.T) {
	t.Parallel()
	d := openDoor(t, upstream(t, hello).URL)
	get(t, httpClient(t), d.url("/before"))
	next := tailOf(t, d, `http.path startsWith "/wanted" && event contains "completed"`)
	if b := next(); len(b.Events) != 0 {
		t.Errorf("the first batch has %v", b.Events)
	}
	for _, path := range []string{"/wanted/1", "/other", "/wanted/2"} {
		get(t, httpClient(t), d.url(path))
	}
	if _, err := d.Reload(d.config); err != nil {
		t.Fatal(err)
	}
	get(t, httpClient(t), d.url("/wanted/3"))
	var texts []string
	for len(texts) < 3 {
		for _, e := range next().Events {
			texts = append(texts, e.Text)
			if e.TraceID == "" {
				t.Errorf("an event without a trace id: %q", e.Text)
			}
		}
	}
	for _, path := range []string{"GET /wanted/1 200", "GET /wanted/2 200", "GET /wanted/3 200"} {
		// In any order: the event follows the response, and the requests have connections of their own.
		if !slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(s, path) }) {
			t.Errorf("the events are %q, want one with %s", texts, path)
		}
	}
	if slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(s, "/other") }) {
		t.Errorf("the events are %q", texts)
	}
}

// TestWrongConditionIsExplained compares the response with the error of weir tail; cmd/weir has its test.
func TestWrongConditionIsExplained(t *testing.T) {
	t.Parallel()
	d := openDoor(t, upstream(t, hello).URL)
	resp, text := get(t, httpClient(t), "http://"+d.AdminAddr().String()+"/log/tail?where=http.stauts_code+%3E+1")
	want := "--where: column 6: unknown name http.stauts_code"
	if resp.StatusCode != 400 || !strings.HasPrefix(text, want) || !strings.Contains(text, "did you mean status_code?") {
		t.Errorf("%s, %q; want 400, %q", resp.Status, text, want)
	}
}
