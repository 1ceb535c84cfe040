package main

import (
	"bufio"
	"errors"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// enterNamespaces gives this goroutine a network of its own and a view of the mounts of its own, for it and the
// processes that it starts. They end with the goroutine, after the cleanup of its test: a folder in which it mounts
// file systems must belong to another test.
func enterNamespaces(t *testing.T) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("needs root for chroot and namespaces")
	}
	runtime.LockOSThread() // the thread ends with the goroutine
	if err := unix.Unshare(unix.CLONE_NEWNET | unix.CLONE_NEWNS); err != nil {
		t.Fatal(err)
	}
	mount(t, "", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(s)
	lo, err := unix.NewIfreq("lo")
	if err == nil {
		lo.SetUint16(unix.IFF_UP)
		err = unix.IoctlIfreq(s, unix.SIOCSIFFLAGS, lo)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func mount(t *testing.T, source, target, kind string, flags uintptr, options string) {
	t.Helper()
	if err := unix.Mount(source, target, kind, flags, options); err != nil {
		t.Fatalf("mount %s: %v", target, err)
	}
}

// mountSystem mounts root at view, with /proc, /dev and /tmp as containers and services see them. If writable names
// folders, nothing else in view can be written to.
func mountSystem(t *testing.T, root, view string, writable []string) {
	t.Helper()
	mount(t, root, view, "", unix.MS_BIND, "")
	for _, folder := range writable {
		mount(t, filepath.Join(root, folder), filepath.Join(view, folder), "", unix.MS_BIND, "")
	}
	for name, kind := range map[string]string{"proc": "proc", "dev": "tmpfs", "tmp": "tmpfs"} {
		if err := os.MkdirAll(filepath.Join(view, name), 0o755); err != nil {
			t.Fatal(err)
		}
		mount(t, kind, filepath.Join(view, name), kind, unix.MS_NOSUID, "")
	}
	null := filepath.Join(view, "dev/null")
	err := unix.Mknod(null, unix.S_IFCHR|0o666, int(unix.Mkdev(1, 3)))
	if err := errors.Join(err, os.Chmod(null, 0o666), os.Chmod(filepath.Join(view, "tmp"), 0o1777)); err != nil {
		t.Fatal(err)
	}
	if writable != nil {
		mount(t, "", view, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, "")
	}
}

// inRoot returns a command that runs in root with an environment of its own. It is killed with the goroutine.
func inRoot(root string, env []string, name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Path, cmd.Err = name, nil
	cmd.Dir = "/"
	cmd.Env = append([]string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}, env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Pdeathsig: syscall.SIGKILL}
	return cmd
}

// runIn runs a command in root to its end and returns its output.
func runIn(t *testing.T, root, name string, args ...string) string {
	t.Helper()
	out, err := inRoot(root, []string{"DEBIAN_FRONTEND=noninteractive"}, name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return string(out)
}

// status sends a request over a connection of this goroutine's network, and returns the status.
func status(t *testing.T, address, path string) int {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(patience))
	request, err := http.NewRequest("GET", "http://"+address+path, nil)
	if err == nil {
		err = request.Write(conn)
	}
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	return response.StatusCode
}

// patience is how long the tests wait for another process.
const patience = time.Minute

// await waits until a condition holds.
func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("no %s after %v", what, patience)
		}
	}
}
