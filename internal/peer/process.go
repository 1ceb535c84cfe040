package peer

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"
)

// startTime is how long a program may take until it is ready.
const startTime = 20 * time.Second

// A process is a program that runs until the end of the test.
type process struct {
	t    testing.TB
	cmd  *exec.Cmd
	stop func() // kills it
}

// start starts a program. If the test fails, its log has the output of the program.
func start(t testing.TB, env []string, program string, args ...string) *process {
	t.Helper()
	var out bytes.Buffer
	cmd := exec.Command(program, args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), env...), &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, cmd: cmd}
	p.stop = sync.OnceFunc(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	t.Cleanup(func() {
		p.stop()
		if t.Failed() {
			t.Logf("%s:\n%s", filepath.Base(program), out.Bytes())
		}
	})
	return p
}

// signal sends a signal to the program.
func (p *process) signal(s syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// await waits until ready returns nil. what names the program for the error.
func await(t testing.TB, what string, ready func() error) {
	t.Helper()
	for began := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		err := ready()
		if err == nil {
			return
		}
		if time.Since(began) > startTime {
			t.Fatalf("%s is not ready after %v: %v", what, startTime, err)
		}
	}
}

// awaitAddress waits until a connection is accepted.
func awaitAddress(t testing.TB, address string) {
	t.Helper()
	await(t, address, func() error {
		c, err := net.Dial("tcp", address)
		if err == nil {
			c.Close()
		}
		return err
	})
}

// FreeAddress returns an address of the loopback interface with a port that was free.
func FreeAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
