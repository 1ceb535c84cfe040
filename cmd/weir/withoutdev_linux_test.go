package main

import (
	"os"
	"os/exec"
	"testing"
)

// TestStartFailsWithoutNullDevice starts a front door where /dev/null does not exist, as in a chroot. The start fails
// with the reason, because without its spare files the front door would reject every connection.
func TestStartFailsWithoutNullDevice(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("unshare"); err != nil || os.Getuid() != 0 {
		t.Skip("hiding /dev needs root and unshare(1)")
	}
	p := prepare(t, "serve", "--config", configFile(t, allTo("http://127.0.0.1:1")))
	p.cmd.Args = append([]string{"unshare", "--mount", "sh", "-c", `mount -t tmpfs none /dev && exec "$0" "$@"`, p.cmd.Path},
		p.cmd.Args[1:]...)
	p.cmd.Path, _ = exec.LookPath("unshare")
	if err := p.start(); err != nil {
		t.Fatal(err)
	}
	p.wait(1)
	p.says("open /dev/null: no such file or directory")
}
