package serve

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/mounttest"
)

// TestReadConfigReadsFilesOfOneState reads a configuration of two files while the folder with
// both is replaced again and again. The two files are always of the same state.
func TestReadConfigReadsFilesOfOneState(t *testing.T) {
	folder := mounttest.New(t)
	set := func(state int) {
		folder.Set(map[string]string{
			"weir.yaml":   fmt.Sprintf("admin: off\nnamespace: state-%d\ninclude: routes.yaml\n", state),
			"routes.yaml": fmt.Sprintf("routes: [{match: /, respond: {status: 200, text: state-%d}}]\n", state),
		})
	}
	set(0)
	read := make(chan int)
	go func() {
		n := 0
		for range 1000 {
			cfg, err := readConfig(folder.At("weir.yaml"))
			if err != nil { // it was replaced in each attempt
				if !strings.Contains(err.Error(), "change while they are read") {
					t.Error(err)
				}
				continue
			}
			n++
			if text := cfg.Routes[0].Respond.Text; text != cfg.Namespace {
				t.Errorf("a configuration of %s has a route of %s", cfg.Namespace, text)
			}
		}
		read <- n
	}()
	for state := 1; ; state++ {
		select {
		case n := <-read:
			if n == 0 {
				t.Error("no configuration was read")
			}
			t.Logf("%d states, %d of 1000 attempts read a configuration", state, n)
			return
		default:
			set(state)
		}
	}
}
