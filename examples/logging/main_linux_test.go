package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestDocsHaveTheProgram compares the first program in docs/logging.md with the
// one that TestProgramLosesNoRequest runs.
func TestDocsHaveTheProgram(t *testing.T) {
	program, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	docs, err := os.ReadFile("../../docs/logging.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(docs), "\n```go\n")
	if first, _, _ := strings.Cut(rest, "\n```\n"); first+"\n" != string(program) {
		t.Errorf("the first Go block of docs/logging.md differs from examples/logging/main.go:\n%s", first)
	}
}

// An event has the fields that the test reads.
type event struct {
	Namespace string
	Event     string
	TraceID   string `json:"trace_id"`
	Data      map[string]any
}

// TestProgramLosesNoRequest runs the program, closes the reader of its stdout and ends the
// program with SIGTERM. Each request must be in the log, on stdout or on
// stderr.
func TestProgramLosesNoRequest(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "shop")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	stdout, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	shop := exec.CommandContext(t.Context(), binary, "-listen", "127.0.0.1:0")
	shop.Stdout, shop.Stderr = w, &stderr
	if err := shop.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()

	events := json.NewDecoder(bufio.NewReader(stdout))
	listening := next(t, events, "listening")
	if listening.Namespace != "shop" {
		t.Errorf("namespace %q, want shop", listening.Namespace)
	}
	url := "http://" + listening.Data["address"].(string)
	get(t, url+"/orders/7")
	received := next(t, events, "http request received")
	if found := next(t, events, "order found"); found.TraceID != received.TraceID || found.Data["order"] != "7" {
		t.Errorf("%+v, want order 7 and the trace id %q", found, received.TraceID)
	}
	next(t, events, "http request completed")
	withoutFiles(t, shop.Process.Pid, func() {
		conn, err := net.Dial("tcp", listening.Data["address"].(string))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		next(t, events, "http server complaint")
	})

	stdout.Close()
	get(t, url+"/orders/8")
	if err := shop.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := shop.Wait(); err != nil {
		t.Errorf("the program ended with %v", err)
	}
	rest := json.NewDecoder(&stderr)
	for _, want := range []string{"http request received", "order found", "http request completed", "log totals"} {
		next(t, rest, want)
	}
}

// next returns the next event with the given name. It skips only events that
// may occur at any time.
func next(t *testing.T, events *json.Decoder, name string) event {
	t.Helper()
	for {
		var e event
		if err := events.Decode(&e); err != nil {
			t.Fatalf("%v; want the event %q", err, name)
		}
		if e.Event == name {
			return e
		}
		if e.Event != "log totals" && e.Event != "http server complaint" {
			t.Fatalf("event %+v, want %q", e, name)
		}
	}
}

// withoutFiles calls do while the process cannot open files, so that its server
// fails to accept connections and logs that.
func withoutFiles(t *testing.T, pid int, do func()) {
	t.Helper()
	var before unix.Rlimit
	if err := unix.Prlimit(pid, unix.RLIMIT_NOFILE, nil, &before); err != nil {
		t.Fatal(err)
	}
	none := unix.Rlimit{Max: before.Max}
	if err := unix.Prlimit(pid, unix.RLIMIT_NOFILE, &none, nil); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := unix.Prlimit(pid, unix.RLIMIT_NOFILE, &before, nil); err != nil {
			t.Fatal(err)
		}
	}()
	do()
}

func get(t *testing.T, url string) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("GET %s: %s", url, resp.Status)
	}
}
