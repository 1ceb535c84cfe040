package main

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/weirhq/weir/internal/peer"
	"github.com/weirhq/weir/internal/testkit"
)

// A targetServer keeps the requests that it gets.
type targetServer struct {
	url string

	mu  sync.Mutex
	got []string // guarded by mu
}

func newTargetServer(t *testing.T) *targetServer {
	s := &targetServer{}
	s.url = testkit.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.got = append(s.got, r.Method+" "+r.Host+" "+r.RequestURI)
	})).URL
	return s
}

// loggedRequests are sent to each server, and then sent again from its log.
var loggedRequests = []struct{ method, target string }{
	{"GET", "/a?x=1&y=%20z"}, {"HEAD", "/a%2Fb/c%20d"}, {"POST", "/form"}, {"OPTIONS", "/o"}, {"GET", "/?token=secret"},
	{"GET", "/quote'%22(1)?a=[b]"},
}

// sendLogged sends the requests to a server, with a host of their own.
func sendLogged(t *testing.T, address string) {
	t.Helper()
	c := client(t)
	for _, r := range loggedRequests {
		req, err := http.NewRequest(r.method, "http://"+address+"/", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.URL.Opaque, req.Host = r.target, "shop.example"
		res, err := c.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
	}
}

// runFromLog sends the requests of a log to a new server, and compares them. host is that which the log has; "" if it has
// none. redacted is the value of the token in the log.
func runFromLog(t *testing.T, log, host, redacted string, flags ...string) (result map[string]any) {
	t.Helper()
	s := newTargetServer(t)
	args := append([]string{"load", "-q", "--json", "--speed", "1000", "-c", "2", "--from-log", log, "--to", s.url}, flags...)
	p := start(t, args...)
	p.wait(0)
	if err := json.Unmarshal([]byte(testkit.ReadFile(t, p.stdout)), &result); err != nil {
		t.Fatal(err)
	}
	if host == "" {
		host = strings.TrimPrefix(s.url, "http://")
	}
	var want []string
	for _, r := range loggedRequests {
		if r.method != "POST" || slices.Contains(flags, "--all-methods") {
			want = append(want, r.method+" "+host+" "+strings.Replace(r.target, "secret", redacted, 1))
		}
	}
	slices.Sort(want)
	slices.Sort(s.got)
	if !slices.Equal(s.got, want) {
		t.Errorf("got  %q\nwant %q", s.got, want)
	}
	return result
}

func TestLoadSendsTheLogOfWeir(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"json", "ltsv"} {
		folder := t.TempDir()
		log := filepath.Join(folder, "weir.log")
		back := newTargetServer(t)
		p := door(t, fmt.Sprintf("log: {to: %q, format: %s, redact: [token]}\n", log, format)+allTo(back.url))
		address := strings.TrimPrefix(p.url(), "http://")
		sendLogged(t, address)
		testkit.Await(t, "the last event", func() bool {
			content, _ := os.ReadFile(log) // the file may not exist yet
			return strings.Count(string(content), "http request completed") == len(loggedRequests)
		})
		result := runFromLog(t, log, "shop.example", "[redacted]", "--all-methods")
		warnings := fmt.Sprint(result["warnings"])
		if !strings.Contains(warnings, "1 request of "+log+" had a secret in the query") {
			t.Errorf("%s: the warnings are %s", format, warnings)
		}
		result = runFromLog(t, log, "shop.example", "[redacted]")
		if warnings := fmt.Sprint(result["warnings"]); !strings.Contains(warnings, "--all-methods sends") {
			t.Errorf("%s: the warnings are %s", format, warnings)
		}
		if lines := result["log"].(map[string]any)["lines"]; lines != float64(3*len(loggedRequests)) {
			t.Errorf("%s: %v lines were read, want the three events of each request", format, lines)
		}
	}
}

func TestLoadSendsTheLogOfNginx(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("nginx"); err != nil {
		t.Skip("nginx is not installed")
	}
	folder, address := t.TempDir(), peer.FreeAddress(t)
	testkit.WriteFile(t, filepath.Join(folder, "nginx.conf"), fmt.Sprintf(`events {}
http {
	access_log access.log combined;
	server { listen %s; location / { return 200 ok; } }
}
`, address))
	runMover(t, folder, address, "nginx", "-p", ".", "-c", "nginx.conf", "-g", "daemon off; pid nginx.pid; error_log nginx.log;")
	sendLogged(t, address)
	log := filepath.Join(folder, "access.log")
	awaitLines(t, log, len(loggedRequests))
	runFromLog(t, log, "", "secret")
}

func TestLoadSendsTheLogOfCaddy(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("caddy"); err != nil {
		t.Skip("caddy is not installed")
	}
	folder, address := t.TempDir(), peer.FreeAddress(t)
	_, port, err := net.SplitHostPort(address)
	testkit.NoError(t, err)
	testkit.WriteFile(t, filepath.Join(folder, "Caddyfile"), fmt.Sprintf(`{
	admin off
	auto_https off
}
http://:%s {
	log {
		output file access.log
	}
	respond ok
}
`, port))
	runMover(t, folder, address, "caddy", "run", "--adapter", "caddyfile", "--config", "Caddyfile")
	sendLogged(t, address)
	log := filepath.Join(folder, "access.log")
	awaitLines(t, log, len(loggedRequests))
	runFromLog(t, log, "shop.example", "secret")
}

// awaitLines waits until a file has so many lines.
func awaitLines(t *testing.T, file string, n int) {
	t.Helper()
	testkit.Await(t, "the lines of "+file, func() bool {
		content, _ := os.ReadFile(file) // it may not exist yet
		return strings.Count(string(content), "\n") == n
	})
}
