package main

import (
	"bufio"
	"os"
	"os/exec"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// startBackend NAME FLAG... runs weir backend with the flags until the script
// ends, and sets the environment variable NAME to its URL.
func startBackend(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: backend name flag...")
	}
	weir := exec.Command("weir", append([]string{"backend", "--listen", "127.0.0.1:0"}, args[1:]...)...)
	weir.Env = append(os.Environ(), raceOptions)
	stderr, err := weir.StderrPipe()
	ts.Check(err)
	ts.Check(weir.Start())
	ts.Defer(func() {
		weir.Process.Kill()
		weir.Wait()
	})
	greeting, err := bufio.NewReader(stderr).ReadString('\n')
	url, listens := strings.CutPrefix(strings.TrimSpace(greeting), "weir: backend on ")
	if !listens {
		ts.Fatalf("the backend says %q, %v", greeting, err)
	}
	ts.Setenv(args[0], url)
}
