package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/weirhq/weir/internal/certtest"
	"github.com/weirhq/weir/internal/peer"
	"github.com/weirhq/weir/internal/testkit"
)

// TestReloadsAndUpgradesFailNoRequest reloads and upgrades a door under load, with HTTP/1, HTTP/2, TLS
// and WebSockets. No request fails, and each has its completed event once in one of the logs.
func TestReloadsAndUpgradesFailNoRequest(t *testing.T) {
	t.Parallel()
	reloads, upgrades, more := inSoak(20, 100), inSoak(3, 10), inSoak[int64](20, 100)
	var served atomic.Int64
	back := echoUpstream(t, &served)
	dir := t.TempDir()
	file, extra := filepath.Join(dir, "weir.yaml"), peer.FreeAddress(t)
	addr, secure, admin := peer.FreeAddress(t), peer.FreeAddress(t), peer.FreeAddress(t)
	cert, key := certtest.Root(t, "root").Issue(t, certtest.Options{}).Write(t, t.TempDir(), "door")
	configure := func(i int) {
		listen := addr
		if i%2 == 1 {
			listen += ", " + extra
		}
		text := fmt.Sprintf("listen: [%s]\ntls: {listen: %s, certificates: {cert: %s, key: %s}}\nadmin: %s\n"+
			"namespace: n%d\ndrain: {delay: 1s, timeout: 10m}\nlog: {to: %s, events: completed, heartbeat: off}\n%s",
			listen, secure, cert, key, admin, i, filepath.Join(dir, fmt.Sprintf("%d.log", i%3)), allTo(back))
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	configure(0)
	pid := startDoor(t, file, "http://"+admin)
	tunnel := dialTunnel(t, addr)
	// Each of 16 connections has a request during drain.delay. A connection that is idle all that
	// time may be closed while the next request is on its way.
	send := func(rate string, args ...string) *process {
		return start(t, append([]string{"load", "-r", rate, "-d", "1h", "--max-connections", "16", "--fail", "errors > 0",
			"--fail", "2xx < 100%"}, args...)...)
	}
	loads := []*process{
		send(inSoak("100", "2000"), "http://"+addr+"/1"),
		send(inSoak("50", "200"), "-c", "4", "--http2", "http://"+addr+"/2"),
		send(inSoak("50", "200"), "-c", "4", "--insecure", "https://"+secure+"/3"),
	}
	progress := func() {
		before := served.Load()
		testkit.Await(t, "requests", func() bool { return served.Load() > before+more })
	}
	for i := range reloads {
		configure(i)
		runs(t, 0, "reload", "--config", file)
		progress()
		tunnel.echo(t)
	}
	if err := os.WriteFile(file, []byte("listen: [\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	runs(t, 1, "reload", "--config", file).says(`weir\.yaml:1:\d+: not YAML`)
	runs(t, 1, "upgrade", "--config", file).says("the process goes on as before")
	for i := range upgrades {
		configure(i)
		held := dialTunnel(t, addr)
		text := runs(t, 0, "upgrade", "--config", file).says(`the process (\d+) serves now`)
		next, err := strconv.Atoi(text)
		if err != nil || next == pid {
			t.Fatalf("the process after %d is %s", pid, text)
		}
		killAtEnd(t, next)
		progress()
		held.echo(t) // it stays with the old process
		held.close()
		if i == 0 {
			tunnel.echo(t)
			tunnel.close()
		}
		old := pid
		testkit.Await(t, "the end of the old process", func() bool { return hasEnded(old) })
		pid = next
	}
	for _, l := range loads {
		l.signal(syscall.SIGINT)
	}
	for _, l := range loads {
		<-l.exited
		if code := l.cmd.ProcessState.ExitCode(); code != 0 {
			text, _ := os.ReadFile(l.stdout)
			t.Errorf("%v: exit code %d:\n%s", l.cmd.Args, code, text)
		}
	}
	stop(t, pid)
	checkCompleted(t, dir, served.Load())
}

// checkCompleted checks that the logs in a folder have n completed events of different
// requests.
func checkCompleted(t *testing.T, dir string, n int64) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.log"))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			var e event
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				t.Fatalf("%v in %q of %s", err, line, file)
			}
			if e.Event == completed {
				seen[e.TraceID]++
			}
		}
	}
	for id, times := range seen {
		if times != 1 {
			t.Errorf("the request %s has %d completed events", id, times)
		}
	}
	if int64(len(seen)) != n {
		t.Errorf("%d requests have a completed event, and the upstream served %d", len(seen), n)
	}
}

// startDoor starts weir serve, whose successors may outlive it, and returns its process id.
func startDoor(t *testing.T, file, admin string) (pid int) {
	t.Helper()
	p := prepare(t, "serve", "--config", file)
	out, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if out.Close(); t.Failed() {
			text, _ := os.ReadFile(out.Name())
			t.Logf("stderr of the doors:\n%s", text)
		}
	})
	p.cmd.Stderr = out // not a pipe, which Wait would read until the last process ends
	if err := p.start(); err != nil {
		t.Fatal(err)
	}
	testkit.Await(t, "the door", func() bool {
		resp, err := http.Get(admin + "/readyz")
		if err == nil {
			resp.Body.Close()
		}
		return err == nil && resp.StatusCode == 200
	})
	return p.cmd.Process.Pid
}

// runs runs weir until it ends, and checks its exit code.
func runs(t *testing.T, code int, args ...string) *process {
	t.Helper()
	p := start(t, args...)
	p.wait(code)
	return p
}

// stop ends a door that is not a child of this process.
func stop(t *testing.T, pid int) {
	t.Helper()
	killAtEnd(t, pid)
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	testkit.Await(t, "the end of the door", func() bool { return hasEnded(pid) })
}

func killAtEnd(t *testing.T, pid int) {
	t.Cleanup(func() {
		if !hasEnded(pid) {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	})
}

var zombie = regexp.MustCompile(`\) Z `)

// hasEnded reports whether a process, which is not a child of this one, has ended.
func hasEnded(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || zombie.Match(stat)
}

// echoUpstream responds to requests and counts them, and switches to an echo of every byte.
func echoUpstream(t *testing.T, served *atomic.Int64) string {
	s := testkit.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		served.Add(1)
		if r.Header.Get("Upgrade") != "" {
			switchToEcho(t, w)
		}
	}))
	return s.URL
}

// A tunnel is a connection with an echo of every byte.
type tunnel struct {
	net.Conn
	r *bufio.Reader
}

func dialTunnel(t *testing.T, addr string) *tunnel {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	u := &tunnel{c, bufio.NewReader(c)}
	io.WriteString(c, "GET /tunnel HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
	if resp, err := http.ReadResponse(u.r, nil); err != nil || resp.StatusCode != 101 {
		t.Fatalf("the upgrade to a tunnel: %v, %v", resp, err)
	}
	u.echo(t)
	return u
}

func (u *tunnel) echo(t *testing.T) {
	t.Helper()
	io.WriteString(u, "hello\n")
	if line, err := u.r.ReadString('\n'); err != nil || line != "hello\n" {
		t.Fatalf("the tunnel returns %q, %v", line, err)
	}
}

func (u *tunnel) close() { u.Conn.Close() }

// TestUpgradeNamesTheUserOfTheProcess upgrades a front door as another user than its own.
func TestUpgradeNamesTheUserOfTheProcess(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to run weir as another user")
	}
	t.Parallel()
	door := start(t, "serve", "--to", "http://127.0.0.1:1", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0")
	admin := strings.TrimPrefix(door.admin(), "http://")
	p := prepare(t, "upgrade", "--admin", admin)
	p.cmd.Path = "/proc/self/exe" // another user cannot open the folder of the program
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	if err := p.start(); err != nil {
		t.Fatal(err)
	}
	p.wait(1)
	p.says(fmt.Sprintf("is the process %d of the user root, and this user is ", door.cmd.Process.Pid))
	p.says("hint: sudo weir upgrade --admin " + admin + "\n")
}
