package experiments_test

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"testing"
)

// tools is a folder for programs that are built once.
var tools string

func TestMain(m *testing.M) {
	// Most of the time of most experiments is a wait.
	flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))) // before the flags of the command line
	os.Exit(func() int {
		var err error
		if tools, err = os.MkdirTemp("", "weir-experiments-"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(tools)
		return m.Run()
	}())
}
