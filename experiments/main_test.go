package experiments_test

import (
	"fmt"
	"os"
	"testing"
)

// tools is a folder for programs that are built once.
var tools string

func TestMain(m *testing.M) {
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
