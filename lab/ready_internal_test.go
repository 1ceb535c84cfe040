package lab

import (
	"fmt"
	"os/exec"
	"sync"
	"testing"
)

func TestBelowReplacesThePath(t *testing.T) {
	for _, c := range []struct{ service, path, want string }{
		{"http://h:1/", "/a", "http://h:1/a"},
		{"http://h:1", "/a?b", "http://h:1/a?b"},
		{"https://h:1/x/y?z", "/a", "https://h:1/a"},
		{"http://h:1?x", "/", "http://h:1/"},
		{"http://h:1/", "http://other/", "http://other/"},
		{"http://h:1/", "127.0.0.1:2/a", "127.0.0.1:2/a"},
		{"http://h:1/", "", ""},
	} {
		if got := below(c.service, c.path); got != c.want {
			t.Errorf("below(%q, %q) = %q, want %q", c.service, c.path, got, c.want)
		}
	}
}

// TestFreePortIsFreeWhileProcessesStart starts processes meanwhile. Until they execute their program they have a copy of
// each open file, and would keep a listener open.
func TestFreePortIsFreeWhileProcessesStart(t *testing.T) {
	done := make(chan struct{})
	var starters sync.WaitGroup
	for range 4 {
		starters.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					exec.Command("true").Run()
				}
			}
		})
	}
	defer starters.Wait()
	defer close(done)
	for range 500 {
		port, err := freePort()
		if err != nil {
			t.Fatal(err)
		}
		if err := checkFree(fmt.Sprintf("http://127.0.0.1:%d/", port)); err != nil {
			t.Fatal(err)
		}
	}
}
