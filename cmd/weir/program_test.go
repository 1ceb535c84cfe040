package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// programs is a folder of the tests. TestMain removes it.
var programs string

// buildUndetected builds weir without the race detector, with which a process needs a quarter of a second to start, and
// returns its file. If the tests are built without it, their own binary is such a weir.
var buildUndetected = sync.OnceValues(func() (string, error) {
	if !raceEnabled {
		return exec.LookPath("weir")
	}
	file := filepath.Join(programs, "weir")
	build := exec.Command("go", "build", "-race=false", "-buildvcs=false", "-o", file, ".")
	build.Stderr = os.Stderr
	return file, build.Run()
})

// undetected returns the file of a weir without the race detector.
func undetected(t testing.TB) string {
	t.Helper()
	file, err := buildUndetected()
	if err != nil {
		t.Fatalf("weir without the race detector: %v", err)
	}
	return file
}

// undetectedTests has the names of tests whose front doors run without the race detector.
var undetectedTests sync.Map

// withPrograms removes the folder of programs after the tests.
type withPrograms struct{ *testing.M }

func (m withPrograms) Run() int {
	var err error
	if programs, err = os.MkdirTemp("", "weir-programs"); err != nil {
		panic(err)
	}
	defer os.RemoveAll(programs)
	return m.M.Run()
}
