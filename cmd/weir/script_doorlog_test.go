package main

import (
	"bufio"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"
)

// doorlog LOG CONFIG TARGET... runs weir serve, requests each TARGET, drains the
// door, and writes its stdout to LOG. ${BACKEND} in CONFIG is a server that
// responds with five bytes. HUMAN_LOG and NO_COLOR are those of the script.
func doorLog(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: doorlog log config target...")
	}
	backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "hello")
	}))
	defer backend.Close()
	log, err := os.Create(ts.MkAbs(args[0]))
	ts.Check(err)
	defer log.Close()
	weir := exec.Command("weir", "serve", "--config", ts.MkAbs(args[1]))
	weir.Env = append(os.Environ(), raceOptions, "TZ=UTC", "BACKEND="+backend.URL,
		"HUMAN_LOG="+ts.Getenv("HUMAN_LOG"), "NO_COLOR="+ts.Getenv("NO_COLOR"))
	weir.Stdout = log
	stderr, err := weir.StderrPipe()
	ts.Check(err)
	ts.Check(weir.Start())
	defer weir.Wait()
	defer weir.Process.Kill()

	said := bufio.NewReader(stderr)
	greeting, err := said.ReadString('\n')
	site, listens := strings.CutPrefix(strings.TrimSpace(greeting), "weir: listening on ")
	if !listens {
		ts.Fatalf("the door says %q, %v", greeting, err)
	}
	for _, target := range args[2:] {
		resp, err := http.Get(site + target)
		ts.Check(err)
		resp.Body.Close()
	}
	ts.Check(weir.Process.Signal(syscall.SIGTERM))
	rest, err := io.ReadAll(said)
	ts.Check(err)
	if err := weir.Wait(); err != nil {
		ts.Fatalf("the door ended with %v: %s", err, rest)
	}
}
