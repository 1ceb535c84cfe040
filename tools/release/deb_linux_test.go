package main

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// checkDeb installs a package into a fresh Debian, runs the front door as its unit says, rotates its log, upgrades it
// to the next version, and removes it.
func checkDeb(t *testing.T, repository, deb string) {
	next := testRelease(t, repository, "v0.1.1")
	next.work, next.out = t.TempDir(), t.TempDir()
	if err := next.buildBinaries(); err != nil {
		t.Fatal(err)
	}
	own, err := next.writeManual()
	if err == nil {
		err = next.writePackages(own)
	}
	if err != nil {
		t.Fatal(err)
	}
	root, view := debian(t), t.TempDir()
	t.Run("service", func(t *testing.T) { runService(t, root, view, deb, filepath.Join(next.out, "weir_0.1.1_amd64.deb")) })
}

// runService installs deb in root, runs it at view, and upgrades it to next.
func runService(t *testing.T, root, view, deb, next string) {
	enterNamespaces(t)
	install(t, root, deb)
	config := filepath.Join(root, "etc/weir/weir.yaml")
	original := read(t, config)
	if err := os.WriteFile(config, []byte(original+"# edited\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	s := startService(t, root, view)
	startBackend(t, root)
	log := filepath.Join(root, "var/log/weir/weir.log")
	serves(t, log, "/before")
	s.run(t, s.unit.one(t, "ExecReload"))
	rotates(t, s, log)

	install(t, root, next)
	if got := read(t, config); got != original+"# edited\n" {
		t.Errorf("after an upgrade, weir.yaml is %q", got)
	}
	s.upgrade(t)
	serves(t, log, "/upgraded")
	s.stop(t)
	runIn(t, root, "/usr/bin/dpkg", "--purge", "weir")
	for _, name := range []string{"usr/bin/weir", "etc/weir", "var/log/weir", "var/lib/weir"} {
		if _, err := os.Lstat(filepath.Join(root, name)); err == nil {
			t.Errorf("dpkg --purge leaves %s", name)
		}
	}
}

// debian returns a root with the essential packages of Debian, and those that the package depends on or recommends and
// the test uses.
func debian(t *testing.T) string {
	t.Helper()
	cache, err := filepath.Abs("../../.bench/debian.tar")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(cache); err != nil {
		if err := os.MkdirAll(filepath.Dir(cache), 0o755); err != nil {
			t.Fatal(err)
		}
		command(t, ".", "mmdebstrap", "--variant=essential", "--format=tar",
			"--include=usr-is-merged,logrotate,systemd-standalone-sysusers", "bookworm", cache+".partial")
		if err := os.Rename(cache+".partial", cache); err != nil {
			t.Fatal(err)
		}
	}
	root := t.TempDir()
	command(t, root, "tar", "-xpf", cache)
	return root
}

// install installs a package with dpkg.
func install(t *testing.T, root, deb string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(root, "weir.deb"), []byte(read(t, deb)), 0o644); err != nil {
		t.Fatal(err)
	}
	runIn(t, root, "/usr/bin/dpkg", "--install", "/weir.deb")
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// startBackend starts the upstream of the configuration that the package installs.
func startBackend(t *testing.T, root string) {
	t.Helper()
	if err := inRoot(root, nil, "/usr/bin/weir", "backend", "--listen", "127.0.0.1:3000").Start(); err != nil {
		t.Fatal(err)
	}
	await(t, "backend", func() bool {
		conn, err := net.Dial("tcp", "127.0.0.1:3000")
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
}

// serves sends a request, and waits for its event in the log.
func serves(t *testing.T, log, path string) {
	t.Helper()
	if got := status(t, "127.0.0.1:80", path); got != 200 {
		t.Fatalf("GET %s: %d", path, got)
	}
	await(t, "event for "+path+" in "+log, func() bool {
		text, _ := os.ReadFile(log)
		return strings.Contains(string(text), path)
	})
}

// rotates rotates the log with the package's rules. A stand-in for systemctl sends the signal.
func rotates(t *testing.T, s *service, log string) {
	systemctl := filepath.Join(s.root, "usr/bin/systemctl")
	text := "#!/bin/sh\n[ \"$*\" = 'kill --signal=USR1 weir.service' ] && kill -USR1 " + strconv.Itoa(s.pid) + "\n"
	if err := os.WriteFile(systemctl, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	runIn(t, s.root, "/usr/sbin/logrotate", "--force", "/etc/logrotate.d/weir")
	if err := os.Remove(systemctl); err != nil {
		t.Fatal(err)
	}
	if old := read(t, log+".1"); !strings.Contains(old, "/before") {
		t.Errorf("the rotated log is %q", old)
	}
	await(t, log, func() bool { _, err := os.Stat(log); return err == nil })
	serves(t, log, "/after")
	var info unix.Stat_t
	if err := unix.Stat(log, &info); err != nil || info.Uid != s.uid || info.Mode&0o777 != 0o640 {
		t.Errorf("the new log belongs to %d and has the mode %o, want %d and 640: %v", info.Uid, info.Mode&0o777, s.uid, err)
	}
}

// A unit is a file of systemd: the values of each key.
type unit map[string][]string

func readUnit(t *testing.T, name string) unit {
	t.Helper()
	u := unit{}
	for line := range strings.Lines(read(t, name)) {
		key, value, found := strings.Cut(strings.TrimSpace(line), "=")
		if found && key[0] != '#' {
			u[key] = append(u[key], value)
		}
	}
	return u
}

// one returns the value of a key that occurs once.
func (u unit) one(t *testing.T, key string) string {
	t.Helper()
	if len(u[key]) != 1 {
		t.Fatalf("the unit has %q for %s, want one value", u[key], key)
	}
	return u[key][0]
}

// A service is a process that runs as systemd would run its unit.
type service struct {
	root   string
	view   string // of root, which the process has
	unit   unit
	uid    uint32
	pid    int // of the main process
	notify *net.UnixConn
}

// startService creates the folders of weir.service, and starts its process with its user, limits, capabilities, view of
// the files and notifications. It returns when the process is ready.
func startService(t *testing.T, root, view string) *service {
	t.Helper()
	s := &service{root: root, view: view, unit: readUnit(t, filepath.Join(root, "usr/lib/systemd/system/weir.service"))}
	var writable []string
	for key, parent := range map[string]string{"LogsDirectory": "var/log", "StateDirectory": "var/lib"} {
		folder := filepath.Join(parent, s.unit.one(t, key))
		runIn(t, root, "/usr/bin/install", "-d", "-o", s.unit.one(t, "User"), "-g", s.unit.one(t, "Group"),
			"-m", s.unit.one(t, key+"Mode"), "/"+folder)
		writable = append(writable, folder)
	}
	var info unix.Stat_t
	if err := unix.Stat(filepath.Join(root, writable[0]), &info); err != nil || info.Uid == 0 {
		t.Fatalf("%s belongs to %d: %v", writable[0], info.Uid, err)
	}
	s.uid = info.Uid
	if s.unit.one(t, "ProtectSystem") != "strict" || s.unit.one(t, "Type") != "notify" {
		t.Fatal("the test knows ProtectSystem=strict and Type=notify only")
	}
	address := filepath.Join(root, "run/notify")
	var err error
	if s.notify, err = net.ListenUnixgram("unixgram", &net.UnixAddr{Net: "unixgram", Name: address}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.notify.Close() })
	if err := os.Chmod(address, 0o666); err != nil {
		t.Fatal(err)
	}
	mountSystem(t, root, view, writable)
	cmd := inRoot(view, []string{"NOTIFY_SOCKET=/run/notify"}, "/bin/sh", "-c", s.shell(t, s.unit.one(t, "ExecStart")))
	cmd.Stderr = t.Output()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go cmd.Wait()
	s.pid = cmd.Process.Pid
	t.Cleanup(func() { syscall.Kill(s.pid, syscall.SIGKILL) }) // after an upgrade, it is no child of this test
	s.await(t, "READY=1")
	return s
}

// shell returns the command of a shell that runs a command of the unit with the user and the limits of the unit.
func (s *service) shell(t *testing.T, command string) string {
	t.Helper()
	capability := strings.ToLower(strings.TrimPrefix(s.unit.one(t, "AmbientCapabilities"), "CAP_"))
	if s.unit.one(t, "CapabilityBoundingSet") != "CAP_"+strings.ToUpper(capability) ||
		s.unit.one(t, "NoNewPrivileges") != "yes" {
		t.Fatal("the test knows one capability, and NoNewPrivileges=yes")
	}
	only := "=-all,+" + capability
	return "umask " + s.unit.one(t, "UMask") + "; exec prlimit --nofile=" + s.openFiles(t) +
		" setpriv --reuid=" + s.unit.one(t, "User") + " --regid=" + s.unit.one(t, "Group") + " --init-groups" +
		" --inh-caps" + only + " --ambient-caps" + only + " --bounding-set" + only + " --no-new-privs " + command
}

// openFiles returns the limit of open files of the unit, or a lower one that this process cannot raise.
func (s *service) openFiles(t *testing.T) string {
	t.Helper()
	limit, err := strconv.ParseUint(s.unit.one(t, "LimitNOFILE"), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	var own unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &own); err != nil {
		t.Fatal(err)
	}
	return strconv.FormatUint(min(limit, own.Max), 10)
}

// run runs a command of the unit to its end.
func (s *service) run(t *testing.T, command string) {
	t.Helper()
	runIn(t, s.view, "/bin/sh", "-c", s.shell(t, command))
}

// await reads notifications until one has a line with a prefix, and returns the rest of that line.
func (s *service) await(t *testing.T, prefix string) string {
	t.Helper()
	buffer := make([]byte, 4096)
	s.notify.SetReadDeadline(time.Now().Add(patience))
	for {
		n, err := s.notify.Read(buffer)
		if err != nil {
			t.Fatalf("waiting for %s: %v", prefix, err)
		}
		for line := range strings.Lines(string(buffer[:n])) {
			if rest, found := strings.CutPrefix(strings.TrimSpace(line), prefix); found {
				return rest
			}
		}
	}
}

// upgrade runs weir upgrade as root, and expects the next process to become the main one.
func (s *service) upgrade(t *testing.T) {
	t.Helper()
	runIn(t, s.root, "/usr/bin/weir", "upgrade", "--config", "/etc/weir/weir.yaml")
	pid, err := strconv.Atoi(s.await(t, "MAINPID="))
	if err != nil || pid == s.pid {
		t.Fatalf("the main process is %d, and was %d: %v", pid, s.pid, err)
	}
	old := s.pid
	s.pid = pid
	awaitEnd(t, old)
	running, err := os.Stat("/proc/" + strconv.Itoa(pid) + "/exe")
	if err != nil {
		t.Fatal(err)
	}
	installed, err := os.Stat(filepath.Join(s.root, "usr/bin/weir"))
	if err != nil || !os.SameFile(running, installed) {
		t.Errorf("the next process does not run the installed program: %v", err)
	}
}

// stop ends the service and its view of the files, as systemd does.
func (s *service) stop(t *testing.T) {
	t.Helper()
	if err := syscall.Kill(s.pid, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	awaitEnd(t, s.pid)
	if err := unix.Unmount(s.view, unix.MNT_DETACH); err != nil {
		t.Fatal(err)
	}
}

// awaitEnd waits until a process has ended, or is a zombie that its parent has not seen.
func awaitEnd(t *testing.T, pid int) {
	t.Helper()
	await(t, "end of the process "+strconv.Itoa(pid), func() bool {
		text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		return err != nil || strings.Contains(string(text), ") Z ")
	})
}
