package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/testkit"
)

// hang mounts a disk over a folder whose file system never responds: each call that needs it waits until the test
// ends or the process is killed. Files that are open stay those of the disk below.
func hang(t *testing.T, folder string) {
	t.Helper()
	server, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("a disk that hangs needs /dev/fuse: %v", err)
	}
	options := fmt.Sprintf("fd=%d,rootmode=40000,user_id=%d,group_id=%d", server.Fd(), os.Getuid(), os.Getgid())
	if err := syscall.Mount("weir-test", folder, "fuse", syscall.MS_NOSUID|syscall.MS_NODEV, options); err != nil {
		server.Close()
		t.Skipf("mounting a disk that hangs needs root: %v", err)
	}
	t.Cleanup(func() {
		server.Close() // ends the waiting calls with an error
		syscall.Unmount(folder, syscall.MNT_DETACH)
	})
}

// waitsForDisk waits until a thread of the process waits for a disk that hangs.
func (p *process) waitsForDisk() {
	p.t.Helper()
	testkit.Await(p.t, "a call to the disk", func() bool {
		stacks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/wchan", p.cmd.Process.Pid))
		for _, name := range stacks {
			if place, _ := os.ReadFile(name); strings.Contains(string(place), "fuse") {
				return true
			}
		}
		return false
	})
}

// hangingFiles writes a configuration with a file of each kind to a folder of its own.
func hangingFiles(t *testing.T, server, more string) (folder, config string) {
	t.Helper()
	folder = t.TempDir()
	for name, text := range map[string]string{
		"servers.yaml":  "- " + server + "\n",
		"routes.yaml":   "routes: [{match: '/included/{path...}', to: site}]\n",
		"redirects.csv": "/old,/new\n",
		"502.html":      "<p>no response</p>\n",
		"site/a.txt":    "a file\n",
	} {
		os.MkdirAll(filepath.Join(folder, filepath.Dir(name)), 0o755)
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	config = filepath.Join(folder, "weir.yaml")
	writeConfig(t, config, more+`drain: {delay: off, timeout: 10m}
include: routes.yaml
redirects: redirects.csv
defaults: {error_pages: {502: 502.html}}
upstreams: {site: {servers: {file: servers.yaml}}}
routes: [{match: '/files/{path...}', files: {root: site}}, {match: '/{path...}', to: site}]
log: {to: `+folder+"/weir.log}\n")
	return folder, config
}

// TestHangingDiskDoesNotStopTheDrain stops the disk of the configuration, of the log, of the list of servers, and of
// the files of a running front door, and lets it read them. SIGTERM drains, and the process ends with 0.
func TestHangingDiskDoesNotStopTheDrain(t *testing.T) {
	t.Parallel()
	for name, provoke := range map[string]func(t *testing.T, p *process, config string){
		"at rest": func(*testing.T, *process, string) {},
		"SIGHUP":  func(t *testing.T, p *process, _ string) { p.signal(syscall.SIGHUP) },
		"SIGUSR1": func(t *testing.T, p *process, _ string) { p.signal(syscall.SIGUSR1) },
		"reload":  func(t *testing.T, _ *process, config string) { start(t, "reload", "--config", config) },
		"upgrade": func(t *testing.T, _ *process, config string) { start(t, "upgrade", "--config", config) },
	} {
		for _, watch := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/watch=%t", name, watch), func(t *testing.T) {
				t.Parallel()
				back := start(t, "backend", "--listen", "127.0.0.1:0")
				folder, config := hangingFiles(t, back.url(), fmt.Sprintf("watch: %t\n", watch))
				p := start(t, "serve", "--config", config)
				url := p.url()
				hang(t, folder)
				p.waitsForDisk() // for the list of servers
				provoke(t, p, config)
				if a := get(t, client(t), url+"/"); a.StatusCode != 200 {
					t.Errorf("a request while the disk hangs: %s", a.Status)
				}
				p.signal(syscall.SIGTERM)
				p.says("draining")
				p.exits()
			})
		}
	}
}

// exits waits for the end of the process, whatever its exit code: a log on a disk that hangs is an error.
func (p *process) exits() {
	p.t.Helper()
	select {
	case <-p.exited:
	case <-time.After(patience / 2):
		p.t.Fatalf("%v has not ended", p.cmd.Args)
	}
}

// TestSecondSignalEndsDrainWithHangingDisk ends a drain that a request holds up, while the disk hangs.
func TestSecondSignalEndsDrainWithHangingDisk(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	folder, config := hangingFiles(t, g.URL, "watch: true\n")
	p := start(t, "serve", "--config", config)
	send(t, p.url(), 1)
	g.await(t, 1)
	hang(t, folder)
	p.waitsForDisk()
	p.signal(syscall.SIGHUP)
	p.signal(syscall.SIGTERM)
	p.says("draining")
	p.signal(syscall.SIGTERM)
	p.wait(1)
	p.says("1 request was cut")
}

// TestEachHangingDiskKeepsBothSignals stops one disk after the other and lets the front door use it, with a request in
// flight. After SIGTERM it is not ready and waits for the request, and the second SIGTERM ends it.
func TestEachHangingDiskKeepsBothSignals(t *testing.T) {
	t.Parallel()
	for name, use := range map[string]func(p *process){
		"config": func(p *process) { p.signal(syscall.SIGHUP) },
		"log":    func(p *process) { p.signal(syscall.SIGUSR1) },
		"files":  func(p *process) { send(p.t, p.url()+"/files", 2) }, // more requests than there are event loops
		"spill":  func(p *process) { send(p.t, p.url(), 2) },          // the server of the log is away
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGate(t)
			folder := t.TempDir()
			for _, name := range []string{"config", "log", "files/slow", "spill"} {
				if err := os.MkdirAll(filepath.Join(folder, name), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			config := filepath.Join(folder, "config", "weir.yaml")
			writeConfig(t, config, strings.ReplaceAll("drain: {delay: 1m, timeout: 1m}\n"+
				"log: {to: [FOLDER/log/weir.log, 'nats://127.0.0.1:1/x'], spill: {folder: FOLDER/spill}}\n"+
				"upstreams: {site: {servers: ['"+g.URL+"']}}\n"+
				"routes: [{match: '/files/{path...}', files: {root: FOLDER/files}}, {match: '/{path...}', to: site}]\n",
				"FOLDER", folder))
			p := start(t, "serve", "--config", config)
			admin := p.admin()
			hang(t, filepath.Join(folder, name))
			send(t, p.url(), 1)
			g.await(t, 1)
			use(p)
			p.waitsForDisk()
			p.signal(syscall.SIGTERM)
			p.says("draining")
			testkit.AwaitEqual(t, "503 of /readyz", func() int { return get(t, client(t), admin+"/readyz").StatusCode }, 503)
			p.alive()
			p.signal(syscall.SIGTERM)
			p.exits()
			p.says(`requests? (was|were) cut`)
		})
	}
}

// TestSignalEndsStartWithHangingDisk ends a front door whose configuration cannot be read.
func TestSignalEndsStartWithHangingDisk(t *testing.T) {
	t.Parallel()
	for _, verb := range []string{"serve", "check"} {
		for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
			t.Run(verb+" "+sig.String(), func(t *testing.T) {
				t.Parallel()
				folder, config := hangingFiles(t, "http://127.0.0.1:1", "")
				hang(t, folder)
				args := map[string][]string{"serve": {"serve", "--config", config}, "check": {"check", config}}[verb]
				p := start(t, args...)
				p.waitsForDisk()
				p.signal(sig)
				p.exits()
			})
		}
	}
}
