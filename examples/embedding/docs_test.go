// Package embedding_test tests the programs in docs/embedding.md.
package embedding_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestDocsHaveThePrograms compares the programs in docs/embedding.md with those that the other tests run.
func TestDocsHaveThePrograms(t *testing.T) {
	docs, err := os.ReadFile("../../docs/embedding.md")
	if err != nil {
		t.Fatal(err)
	}
	var blocks []string
	for _, m := range regexp.MustCompile("(?s)\n```go\n(// Command.*?\n)```\n").FindAllStringSubmatch(string(docs), -1) {
		blocks = append(blocks, m[1])
	}
	for i, file := range []string{"proxy/main.go", "front/main.go"} {
		program, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if i >= len(blocks) || blocks[i] != string(program) {
			t.Errorf("docs/embedding.md does not have %s", file)
		}
	}
	if len(blocks) != 2 {
		t.Errorf("docs/embedding.md has %d programs, want 2", len(blocks))
	}
}

// start builds and starts a program, and returns its stdout and stderr.
func start(t *testing.T, folder string, args ...string) (cmd *exec.Cmd, stdout, stderr *bufio.Reader) {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "program")
	if out, err := exec.Command("go", "build", "-o", binary, "./"+folder).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd = exec.CommandContext(t.Context(), binary, args...)
	cmd.Env = append(os.Environ(), "API_KEY=s3cret")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	errs, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	return cmd, bufio.NewReader(out), bufio.NewReader(errs)
}

// get requests a URL with a key, and returns the status and the body.
func get(t *testing.T, url, key string) string {
	t.Helper()
	r, err := http.NewRequest("GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Api-Key", key)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%d %s", resp.StatusCode, body)
}

// An event has the fields that the test reads.
type event struct {
	Event string
	Data  struct{ Address string }
}

// TestProxyProgramForwardsRequests sends a request by way of the first program, and another one after the server has
// ended.
func TestProxyProgramForwardsRequests(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.URL) }))
	defer server.Close()
	_, stdout, _ := start(t, "proxy", "127.0.0.1:0", server.URL)
	events := json.NewDecoder(stdout)
	next := func(names ...string) (e event) {
		t.Helper()
		for range names {
			if err := events.Decode(&e); err != nil || !slices.Contains(names, e.Event) {
				t.Fatalf("the event is %+v, %v; want %v", e, err, names)
			}
		}
		return e
	}
	url := "http://" + next("listening").Data.Address
	if got := get(t, url+"/a?b", ""); got != "200 /a?b" {
		t.Errorf("the client got %q", got)
	}
	next("http request received", "http request completed")
	server.Close()
	if got := get(t, url, ""); !strings.HasPrefix(got, "502 ") {
		t.Errorf("without a server, the client got %q", got)
	}
	next("http request received", "upstream failed", "http request completed")
}

// TestFrontProgramChecksTheKey sends requests with and without a key to the second program.
func TestFrontProgramChecksTheKey(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "hello", r.Header["X-Api-Key"])
	}))
	defer server.Close()
	file := filepath.Join(t.TempDir(), "weir.yaml")
	err := os.WriteFile(file, []byte(`
listen: ["127.0.0.1:0"]
admin: off
upstreams:
  shop: {servers: ["`+server.URL+`"]}
routes:
  - {match: "/{path...}", to: shop}
`), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	cmd, stdout, stderr := start(t, "front", file)
	go io.Copy(io.Discard, stdout)
	line, err := stderr.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	url := strings.TrimSpace(strings.TrimPrefix(line, "door: serving "))
	if got := get(t, url, "s3cret"); got != "200 hello[]" {
		t.Errorf("with the key, the client got %q", got)
	}
	if got := get(t, url, "guess"); !strings.HasPrefix(got, "401 ") {
		t.Errorf("with another key, the client got %q", got)
	}
	http.DefaultClient.CloseIdleConnections()
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if rest, _ := io.ReadAll(stderr); len(rest) > 0 {
		t.Errorf("the program wrote %q", rest)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the program ended with %v", err)
	}
}
