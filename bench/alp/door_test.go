package alp_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// throughDoor starts a front door as a separate process, calls visit, and returns the log file. It has three events per
// request, of which alp counts the one with a time.
func throughDoor(t *testing.T, visit func(site string)) (logFile string) {
	upstream := httptest.NewServer(http.HandlerFunc(respond))
	defer upstream.Close()
	dir := t.TempDir()
	logFile = filepath.Join(dir, "weir.log")
	config := filepath.Join(dir, "weir.yaml")
	err := os.WriteFile(config, fmt.Appendf(nil, `listen: ["127.0.0.1:0"]
admin: off
log: {to: %q, format: ltsv}
upstreams:
  site: {servers: [%q]}
routes:
  - {match: "/{path...}", to: site}
`, logFile, upstream.URL), 0o644)
	if err != nil {
		t.Fatal(err)
	}
	weir := buildWeir(t)
	d := startDoor(t, weir, config)
	visit(d.site)
	d.stop(t)
	return logFile
}

// A door is a running front door.
type door struct {
	site string // its URL
	cmd  *exec.Cmd
	said io.Reader
}

// startDoor returns when the door listens.
func startDoor(t *testing.T, weir, config string) *door {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), weir, "serve", "--config", config)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := bufio.NewReader(stderr)
	line, err := said.ReadString('\n')
	site, listens := strings.CutPrefix(strings.TrimSpace(line), "weir: listening on ")
	if !listens {
		t.Fatalf("the door says %q, %v, want where it listens", line, err)
	}
	return &door{site: site, cmd: cmd, said: said}
}

// stop drains the door, and returns when its log is complete.
func (d *door) stop(t *testing.T) {
	t.Helper()
	if err := d.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	said, err := io.ReadAll(d.said)
	if err != nil {
		t.Error(err)
	}
	if err := d.cmd.Wait(); err != nil {
		t.Errorf("the door ended with %v: %s", err, said)
	}
}
