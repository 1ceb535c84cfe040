package front_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/internal/logfiles"
	"github.com/weirhq/weir/front/logto"
	"github.com/weirhq/weir/internal/testkit"
	"github.com/weirhq/weir/log/sink"
)

// TestLogPageShowsALostReader reads the page /log of the admin listener. One of the two
// destinations has lost its reader.
func TestLogPageShowsALostReader(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	r.Close()
	back := upstream(t, hello)
	cfg := doorConfig(back.URL)
	file := filepath.Join(t.TempDir(), "weir.log")
	cfg.Log.To, cfg.Log.Heartbeat = []string{logto.ToStderr, file}, 0
	out, err := logto.Open(cfg.Log.Config, logto.Options{Stdout: os.Stdout, Stderr: w})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { out.Close(t.Context()) })
	d := serveDoor(t, cfg, out)
	const n = 20
	for range n {
		get(t, httpClient(t), d.url("/"))
	}
	testkit.Await(t, "all events to be done with", func() bool {
		s := out.Stats()
		return s.Emitted == 2*3*n && s.Waiting == 0
	})
	var page struct {
		CPU          map[string]float64
		FileErrors   int `json:"file_errors"`
		Destinations []struct {
			To               string
			Emitted, Written int
			Dropped          []struct {
				Reason, Severity string
				Events           int
			}
			LastError string `json:"last_error"`
		}
	}
	_, body := get(t, httpClient(t), "http://"+d.AdminAddr().String()+"/log")
	if err := json.Unmarshal([]byte(body), &page); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	if len(page.Destinations) != 2 {
		t.Fatalf("the page has %d destinations:\n%s", len(page.Destinations), body)
	}
	broken, whole := page.Destinations[0], page.Destinations[1]
	if broken.To != "stderr" || broken.Written != 0 || broken.Emitted != 3*n || len(broken.Dropped) != 1 ||
		broken.Dropped[0].Reason != string(sink.WriteError) || broken.Dropped[0].Severity != "info" ||
		broken.Dropped[0].Events != 3*n || !strings.Contains(broken.LastError, "broken pipe") {
		t.Errorf("of stderr the page says %+v", broken)
	}
	if whole.To != file || whole.Written != 3*n || len(whole.Dropped) != 0 || whole.LastError != "" {
		t.Errorf("of the file the page says %+v", whole)
	}
	if got := len(logfiles.Lines(t, file)); got != 3*n {
		t.Errorf("the file has %d events, want %d", got, 3*n)
	}
	for _, key := range []string{"share", "window_seconds", "encoding_seconds", "writing_seconds", "measuring_seconds",
		"process_seconds"} {
		if _, ok := page.CPU[key]; !ok {
			t.Errorf("the page has no cpu.%s", key)
		}
	}
	m := d.metrics(t)
	for series, want := range map[string]float64{
		`weir_log_destination_events_total{result="written",to="` + file + `"}`: 3 * n,
		`weir_log_destination_events_total{result="dropped",to="stderr"}`:       3 * n,
		`weir_log_destination_events_total{result="written",to="stderr"}`:       0,
		`weir_log_destination_queue_bytes{to="stderr"}`:                         0,
		`weir_log_events_dropped_total{reason="write_error",severity="info"}`:   3 * n,
		`weir_log_events_dropped_total{reason="full",severity="info"}`:          0,
		`weir_log_diverted_events_total`:                                        0,
		`weir_log_file_errors_total`:                                            0,
		`weir_log_queue_size_bytes`:                                             2 * 8 << 20,
	} {
		if got, ok := m[series]; !ok || got != want {
			t.Errorf("%s is %v (%v), want %v", series, got, ok, want)
		}
	}
	if m["weir_log_queue_high_water_bytes"] == 0 || m["weir_log_longest_write_seconds"] == 0 {
		t.Errorf("high water %v, longest write %v", m["weir_log_queue_high_water_bytes"], m["weir_log_longest_write_seconds"])
	}
}

// serveDoor starts a front door with a log that the test owns.
func serveDoor(t *testing.T, cfg *config.Config, out logto.Output) *testDoor {
	t.Helper()
	d := newDoorOver(t, cfg, out)
	if err := d.Listen(); err != nil {
		t.Fatal(err)
	}
	d.serve()
	return d
}

func newDoorOver(t *testing.T, cfg *config.Config, out logto.Output) *testDoor {
	t.Helper()
	d := &testDoor{t: t, config: cfg, log: newLogBook(), served: make(chan error, 1)}
	var err error
	if d.Door, err = engines.New(cfg, out); err != nil {
		t.Fatal(err)
	}
	return d
}

// TestPanicFlushesTheLog has a queue that lingers for an hour, and code that
// panics. When the client has the response, the event of the panic is written.
func TestPanicFlushesTheLog(t *testing.T) {
	t.Parallel()
	back := upstream(t, hello)
	cfg := doorConfig(back.URL)
	cfg.Log.Queue.Linger = time.Hour
	out, stdout, _ := logfiles.Open(t, cfg.Log.Config, nil)
	d := newDoorOver(t, cfg, out)
	d.WrapAction("/", explodesBefore)
	if err := d.Listen(); err != nil {
		t.Fatal(err)
	}
	d.serve()
	if resp, _ := get(t, httpClient(t), d.url("/")); resp.StatusCode != 500 {
		t.Fatalf("the answer is %s, want 500", resp.Status)
	}
	text, err := os.ReadFile(stdout.Name())
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), `"event":"panic while serving a request"`) {
		t.Errorf("the client has its answer, and the log is:\n%s", text)
	}
}
