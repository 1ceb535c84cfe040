package halves

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Divide returns the halves of the processors that this process may use. Both have the same number of cores. With a
// limit of CPU time, by a control group or GOMAXPROCS, each has at most half of the limit.
func Divide() ([2]Half, error) {
	var own unix.CPUSet
	if err := unix.SchedGetaffinity(0, &own); err != nil {
		return [2]Half{}, fmt.Errorf("read which processors this process may use: %w", err)
	}
	ofCore := map[string][]int{}
	for cpu := range len(own) * 64 {
		if own.IsSet(cpu) {
			name := coreOf(cpu)
			ofCore[name] = append(ofCore[name], cpu)
		}
	}
	var cores [][]int
	for _, cpus := range ofCore {
		cores = append(cores, cpus)
	}
	return divide(cores, runtime.GOMAXPROCS(0)/2)
}

// coreOf returns a name that the processors of a core have in common: their list. Where the kernel does not say, each
// processor is a core.
func coreOf(cpu int) string {
	number := strconv.Itoa(cpu)
	text, err := os.ReadFile(filepath.Join("/sys/devices/system/cpu/cpu"+number, "topology/thread_siblings_list"))
	if err != nil {
		return number
	}
	return strings.TrimSpace(string(text))
}

// Start starts a command whose threads and children run on the processors of the half only.
func (h Half) Start(cmd *exec.Cmd) error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // the thread ends with the goroutine
		var half unix.CPUSet
		for _, cpu := range h {
			half.Set(cpu)
		}
		if err := unix.SchedSetaffinity(0, &half); err != nil {
			started <- fmt.Errorf("run on the processors %v only: %w", h, err)
			return
		}
		started <- cmd.Start()
	}()
	return <-started
}
