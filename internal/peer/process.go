package peer

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
)

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

// FreeAddress returns an address of the loopback interface whose port is free, outside of the range of ephemeral ports,
// so that no connection takes it. It belongs to this process until that ends: no other call of FreeAddress returns it,
// also in the tests of another package.
func FreeAddress(t testing.TB) string {
	t.Helper()
	const first, last = 20_000, 32_000
	begin := os.Getpid() % (last - first)
	for i := range last - first {
		port := first + (begin+i)%(last-first)
		if !takePort(t, port) {
			continue
		}
		l, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", port))
		if err != nil {
			continue
		}
		defer l.Close()
		return l.Addr().String()
	}
	t.Fatal("no port is free")
	panic("not reached")
}

// takenPorts keeps the locks of takePort: a file that is collected is closed.
var takenPorts struct {
	sync.Mutex
	locks []*os.File
}

// takePort reports whether the port is taken for this process.
func takePort(t testing.TB, port int) bool {
	t.Helper()
	lock := openLock(t, filepath.Join(cacheFolder(t), fmt.Sprint("port-", port)))
	if syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		lock.Close()
		return false
	}
	takenPorts.Lock()
	defer takenPorts.Unlock()
	takenPorts.locks = append(takenPorts.locks, lock)
	return true
}
