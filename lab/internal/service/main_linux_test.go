package service_test

import (
	"bytes"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/leaktest"
	"github.com/weirhq/weir/lab/internal/service"
)

// asService is an environment variable that makes the test's program play one
// of roles.
const asService = "WEIR_TEST_SERVICE"

// roles are the programs that tests start.
var roles = map[string]func(){
	"write":    write,
	"stubborn": stubborn,
	"eat":      eat,
	"owner":    owner,
}

func TestMain(m *testing.M) {
	if role := roles[os.Getenv(asService)]; role != nil {
		role()
		return
	}
	leaktest.Verify(m, leaktest.Options{Children: true})
}

// write writes as many bytes as its argument says, 100 per line.
func write() {
	n, _ := strconv.Atoi(os.Args[1])
	block := slices.Repeat([]byte(strings.Repeat("x", 99)+"\n"), 600)
	for n > 0 {
		wrote, err := os.Stdout.Write(block[:min(n, len(block))])
		if err != nil {
			os.Exit(1)
		}
		n -= wrote
	}
}

// stubborn ignores SIGTERM.
func stubborn() {
	signal.Ignore(syscall.SIGTERM)
	fmt.Println("ready")
	time.Sleep(time.Hour) // select {} would be reported as a deadlock
}

// eat allocates 256 MiB of memory.
func eat() {
	var all [][]byte
	for range 256 {
		all = append(all, bytes.Repeat([]byte{1}, 1<<20))
	}
	fmt.Println(len(all))
}

// owner starts a service and waits to be killed.
func owner() {
	s, err := service.Start(service.Spec{
		Command: []string{"sh", "-c", "sleep 300 & exec sleep 300"}, Env: os.Environ(), Mark: os.Args[1],
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.PID())
	select {}
}

const deadline = 20 * time.Second

// start starts a service that the test stops at its end.
func start(t *testing.T, spec service.Spec) *service.Service {
	t.Helper()
	if spec.Env == nil {
		spec.Env = os.Environ()
	}
	s, err := service.Start(spec)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// self returns a spec of this program in a role.
func self(role string, args ...string) service.Spec {
	return service.Spec{Command: append([]string{os.Args[0]}, args...), Env: append(os.Environ(), asService+"="+role)}
}

func shell(script string) service.Spec {
	return service.Spec{Command: []string{"sh", "-c", script}}
}
