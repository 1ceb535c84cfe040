package lab_test

import (
	"flag"
	"os"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/leaktest"
)

// asProgram is an environment variable. It makes the test binary run one of
// programs.
const asProgram = "WEIR_TEST_LAB"

// programs are the programs that the test binary can be instead of running
// tests. Test files add those that they need.
var programs = map[string]func(){}

func TestMain(m *testing.M) {
	if program := programs[os.Getenv(asProgram)]; program != nil {
		program()
		return
	}
	// The tests wait for other processes most of the time. The flag
	// overrides this.
	if err := flag.Set("test.parallel", "4"); err != nil {
		panic(err)
	}
	leaktest.Verify(m, leaktest.Options{Patience: patience, Children: true})
}

const patience = 2 * time.Minute
