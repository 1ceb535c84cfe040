package process_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// asChild is an environment variable that makes the test's program a child that
// obeys commands.
const asChild = "WEIR_TEST_PROCESS_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(asChild) != "" {
		obey(os.Stdin)
		return
	}
	os.Exit(m.Run())
}

// A child is a process that executes commands.
type child struct {
	*exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// start starts a child. If name is not "", its program has that name.
func start(t *testing.T, name string) *child {
	t.Helper()
	if name == "" {
		name = os.Args[0]
	}
	c := &child{Cmd: exec.Command(name)}
	c.Env = append(os.Environ(), asChild+"=1")
	c.Stderr = os.Stderr
	var err error
	if c.in, err = c.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.out = bufio.NewReader(out)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Process.Kill() // with the race detector, ending normally takes a second
		c.Wait()
	})
	c.command(t, "hello")
	return c
}

// command sends a command and returns the child's reply to it.
func (c *child) command(t *testing.T, command string, args ...any) string {
	t.Helper()
	command += " " + fmt.Sprintln(args...)
	if _, err := io.WriteString(c.in, command); err != nil {
		t.Fatalf("send to the child %q: %v", command, err)
	}
	answer, err := c.out.ReadString('\n')
	if err != nil {
		t.Fatalf("the child's answer to %q: %v", command, err)
	}
	return strings.TrimSpace(answer)
}

// obey runs in the child. It reads one command per line and replies to each.
func obey(in io.Reader) {
	var does deeds
	for lines := bufio.NewScanner(in); lines.Scan(); {
		words := strings.Fields(lines.Text())
		answer, err := does.what(words[0], words[1:])
		if err != nil {
			fmt.Fprintln(os.Stderr, "child:", err)
			os.Exit(1)
		}
		fmt.Println(answer)
	}
}

// deeds holds the resources of the child.
type deeds struct {
	memory    []byte
	files     []*os.File
	listeners []net.Listener
	children  []*exec.Cmd
}

func (d *deeds) what(command string, args []string) (answer string, err error) {
	number := func() int {
		n, _ := strconv.Atoi(args[0])
		return n
	}
	switch command {
	case "hello":
	case "burn":
		burn(time.Duration(number()))
	case "burn-and-end":
		return "done", burnInThread(time.Duration(number()))
	case "allocate":
		d.memory = make([]byte, number())
		for i := 0; i < len(d.memory); i += 4096 {
			d.memory[i] = 1
		}
	case "free":
		d.memory = nil
		debug.FreeOSMemory()
	case "open":
		for range number() {
			file, err := os.Open("/dev/null")
			if err != nil {
				return "", err
			}
			d.files = append(d.files, file)
		}
	case "close":
		for _, file := range d.files {
			file.Close()
		}
		d.files = nil
	case "threads":
		for range number() {
			locked := make(chan bool)
			go func() {
				runtime.LockOSThread()
				locked <- true
				select {}
			}()
			<-locked
		}
	case "listen":
		return d.listen(args[0])
	case "deaf":
		for _, l := range d.listeners {
			l.Close()
		}
		d.listeners = nil
	case "limit":
		var files unix.Rlimit
		err := unix.Getrlimit(unix.RLIMIT_NOFILE, &files)
		files.Cur = uint64(number())
		return "done", errors.Join(err, unix.Setrlimit(unix.RLIMIT_NOFILE, &files))
	case "yield":
		for range number() {
			time.Sleep(time.Microsecond)
		}
	case "fork":
		return d.fork()
	case "forget": // its children, so that the kernel discards them when they end
		signal.Ignore(unix.SIGCHLD)
	case "kill":
		last := d.children[len(d.children)-1]
		d.children = d.children[:len(d.children)-1]
		last.Process.Kill()
		last.Wait()
	}
	return "done", err
}

// listen listens on addr, with SO_REUSEPORT if the port is not 0.
func (d *deeds) listen(addr string) (string, error) {
	config := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) (err error) {
		if e := c.Control(func(fd uintptr) {
			err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
		}); e != nil {
			return e
		}
		return err
	}}
	l, err := config.Listen(context.Background(), "tcp", addr)
	if err != nil {
		return "", err
	}
	d.listeners = append(d.listeners, l)
	return l.Addr().String(), nil
}

// fork starts a child of the child, which burns 50 ms and inherits the
// listeners, and returns its PID.
func (d *deeds) fork() (string, error) {
	c := exec.Command(os.Args[0])
	c.Env = os.Environ()
	for _, l := range d.listeners {
		file, err := l.(*net.TCPListener).File()
		if err != nil {
			return "", err
		}
		defer file.Close()
		c.ExtraFiles = append(c.ExtraFiles, file)
	}
	in, err := c.StdinPipe()
	if err != nil {
		return "", err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := c.Start(); err != nil {
		return "", err
	}
	d.children = append(d.children, c)
	fmt.Fprintln(in, "burn", int(50*time.Millisecond))
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		return "", err
	}
	return strconv.Itoa(c.Process.Pid), nil
}

// burnInThread uses the given CPU time in a thread, and returns when the thread has ended.
func burnInThread(d time.Duration) error {
	id := make(chan int)
	go func() {
		runtime.LockOSThread()
		if unix.Gettid() == os.Getpid() { // the first thread does not end before the process
			go func() { id <- 0 }()
			select {}
		}
		burn(d)
		id <- unix.Gettid()
	}()
	thread := <-id
	if thread == 0 {
		return burnInThread(d)
	}
	for {
		_, err := os.Stat("/proc/self/task/" + strconv.Itoa(thread))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		time.Sleep(time.Millisecond)
	}
}

// burn uses the given CPU time, mostly in user mode.
func burn(d time.Duration) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	used := func() time.Duration {
		var now unix.Timespec
		unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &now)
		return time.Duration(now.Nano())
	}
	for began := used(); used()-began < d; {
		for range 1 << 17 {
		}
	}
}
