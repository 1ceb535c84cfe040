package service

import (
	"fmt"
	"sync"

	"golang.org/x/sys/unix"
)

// While a service runs, this process is the one to which children fall that
// have lost their parent (prctl(2), PR_SET_CHILD_SUBREAPER), where they can be
// found and waited for.
var reaping struct {
	mu       sync.Mutex
	services int
}

// adopt has orphans fall to this process until release.
func adopt() error {
	reaping.mu.Lock()
	defer reaping.mu.Unlock()
	if reaping.services == 0 {
		if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
			return fmt.Errorf("have the children of a service that lose their parent fall to this process: %w", err)
		}
	}
	reaping.services++
	return nil
}

func release() {
	reaping.mu.Lock()
	defer reaping.mu.Unlock()
	if reaping.services--; reaping.services == 0 {
		unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
	}
}
