package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/weirhq/weir/internal/peer"
	"github.com/weirhq/weir/internal/testkit"
)

// TestWatchAppliesChangedFiles changes the files of a configuration with watch: true.
func TestWatchAppliesChangedFiles(t *testing.T) {
	t.Parallel()
	back := start(t, "backend", "--listen", "127.0.0.1:0")
	dir := t.TempDir()
	file := filepath.Join(dir, "weir.yaml")
	writeConfig(t, file, fmt.Sprintf("watch: true\ninclude: routes/*.yaml\nupstreams: {site: {servers: [%q]}}\n"+
		"routes: [{match: /one, to: site}]\n", back.url()))
	if err := os.Mkdir(filepath.Join(dir, "routes"), 0o700); err != nil {
		t.Fatal(err)
	}
	p := start(t, "serve", "--config", file)
	c := client(t)
	status := func(path string, want int) {
		t.Helper()
		testkit.AwaitEqual(t, fmt.Sprintf("%d for %s", want, path), func() int { return get(t, c, p.url()+path).StatusCode }, want)
	}
	status("/two", 404)
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "routes", "two.yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("routes: [{match: /two, to: site}]\n")
	status("/two", 200)
	write("routes: [{match: /two, to: nowhere}]\n")
	p.says(`two\.yaml:1:28: there is no upstream "nowhere"`)
	status("/two", 200)
	write("routes: [{match: /three, to: site}]\n")
	status("/three", 200)
	status("/two", 404)
	if err := os.Remove(filepath.Join(dir, "routes", "two.yaml")); err != nil {
		t.Fatal(err)
	}
	status("/three", 404)
	// The file that a configuration names arrives after it.
	write("routes: [{match: /three, error_pages: {404: page.html}, respond: {status: 403}}]\n")
	p.says(`two\.yaml:1:.*page\.html`)
	if err := os.WriteFile(filepath.Join(dir, "routes", "page.html"), []byte("no"), 0o600); err != nil {
		t.Fatal(err)
	}
	status("/three", 403)
	if n := strings.Count(p.stderr.String(), "weir: error: reload: "); n != 2 {
		t.Errorf("mistakes were printed %d times, want twice", n)
	}
}

// TestSystemdPassesSocketsAndGetsStates passes sockets as systemd does, and reads the notifications.
func TestSystemdPassesSocketsAndGetsStates(t *testing.T) {
	t.Parallel()
	notes, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Net: "unixgram", Name: filepath.Join(t.TempDir(), "notify")})
	if err != nil {
		t.Fatal(err)
	}
	defer notes.Close()
	states := make(chan string, 100)
	go func() {
		b := make([]byte, 1<<10)
		for {
			n, err := notes.Read(b)
			if err != nil {
				return
			}
			states <- string(b[:n])
		}
	}()
	public, publicAddr := systemdSocket(t)
	admin, adminAddr := systemdSocket(t)
	back := start(t, "backend", "--listen", "127.0.0.1:0")
	file := filepath.Join(t.TempDir(), "weir.yaml")
	text := "listen: systemd/http\nadmin: systemd/admin\n" + allTo(back.url())
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	withSockets(t, file, "http:admin", []*os.File{public, admin}, "NOTIFY_SOCKET="+notes.LocalAddr().String())
	if state := testkit.Receive(t, "READY", states); state != "READY=1" {
		t.Errorf("got %q, want READY=1", state)
	}
	if a := get(t, client(t), "http://"+publicAddr+"/"); a.StatusCode != http.StatusOK {
		t.Errorf("the public socket: %s", a.Status)
	}
	if a := get(t, client(t), "http://"+adminAddr+"/readyz"); a.StatusCode != http.StatusOK {
		t.Errorf("the admin socket: %s", a.Status)
	}
	runs(t, 0, "reload", "--config", file)
	if state := testkit.Receive(t, "RELOADING", states); !strings.HasPrefix(state, "RELOADING=1\nMONOTONIC_USEC=") {
		t.Errorf("got %q, want RELOADING=1 and the time", state)
	}
	if state := testkit.Receive(t, "READY after a reload", states); state != "READY=1" {
		t.Errorf("got %q, want READY=1", state)
	}
	next := runs(t, 0, "upgrade", "--config", file).says(`the process (\d+) serves now`)
	want := map[string]bool{"READY=1": true, "MAINPID=" + next: true}
	for range 2 {
		state := testkit.Receive(t, "MAINPID and READY", states)
		if !want[state] {
			t.Errorf("got %q, want MAINPID of the next process, and its READY", state)
		}
		delete(want, state)
	}
	if a := get(t, client(t), "http://"+publicAddr+"/"); a.StatusCode != http.StatusOK {
		t.Errorf("the public socket after the upgrade: %s", a.Status)
	}
	var pid int
	fmt.Sscan(next, &pid)
	stop(t, pid)
	if state := testkit.Receive(t, "STOPPING", states); state != "STOPPING=1" {
		t.Errorf("got %q, want STOPPING=1", state)
	}
}

// TestSystemdSocketServesAgain removes a socket of systemd with a reload. The next process, which names it again, serves
// its connections: systemd has kept the socket.
func TestSystemdSocketServesAgain(t *testing.T) {
	t.Parallel()
	socket, addr := systemdSocket(t)
	file, admin := filepath.Join(t.TempDir(), "weir.yaml"), peer.FreeAddress(t)
	write := func(listen string) {
		text := fmt.Sprintf("listen: %s\nadmin: %s\ndrain: {delay: off}\nroutes: [{match: \"/{path...}\", respond: {status: 204}}]\n", listen, admin)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("systemd/http")
	p := withSockets(t, file, "http", []*os.File{socket})
	kept, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	fmt.Fprint(kept, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
	response := bufio.NewReader(kept)
	if resp, err := http.ReadResponse(response, nil); err != nil || resp.StatusCode != http.StatusNoContent {
		t.Fatalf("the socket: %v, %v", resp, err)
	}
	write("127.0.0.1:0")
	runs(t, 0, "reload", "--config", file)
	if n, err := io.Copy(io.Discard, response); n > 0 || err != nil { // until the socket is removed
		t.Errorf("the kept connection: %d bytes, %v", n, err)
	}
	p.signal(syscall.SIGTERM)
	p.wait(0)
	write("systemd/http")
	withSockets(t, file, "http", []*os.File{socket})
	if a := get(t, client(t), "http://"+addr+"/"); a.StatusCode != http.StatusNoContent {
		t.Errorf("the socket: %s", a.Status)
	}
}

// systemdSocket returns a listening socket, and its address.
func systemdSocket(t *testing.T) (*os.File, string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	f, err := l.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f, l.Addr().String()
}

// withSockets starts weir serve as systemd does, with sockets and their names.
func withSockets(t *testing.T, file, names string, sockets []*os.File, env ...string) *process {
	t.Helper()
	p := prepare(t, "serve", "--config", file)
	// LISTEN_PID is the id of the process, which a shell knows before it becomes weir.
	p.cmd.Args = []string{"sh", "-c", `LISTEN_PID=$$ exec weir serve --config "$0"`, file}
	p.cmd.Path = "/bin/sh"
	p.cmd.ExtraFiles = sockets
	p.cmd.Env = append(p.cmd.Env, append(env, fmt.Sprintf("LISTEN_FDS=%d", len(sockets)), "LISTEN_FDNAMES="+names)...)
	if err := p.start(); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestMissingSystemdSocketIsAnError(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "weir.yaml")
	text := "listen: systemd/http\nadmin: off\n" + allTo("http://127.0.0.1:1")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, "serve", "--config", file)
	p.wait(1)
	p.says("weir: error: listen: systemd has passed no socket with the name http")
}

// TestReloadFindsNoProcess asks for a door that does not run.
func TestReloadFindsNoProcess(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "weir.yaml")
	for _, verb := range []string{"reload", "upgrade"} {
		p := runs(t, 1, verb, "--config", file)
		p.says("weir: error: no weir serve --config " + file + " runs here")
		p.says("weir: hint: .*same user or root")
	}
}
