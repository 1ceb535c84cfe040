// Package machine describes the current machine and reads the limits that it
// sets for a process: open files, ports, the backlog of listeners, and the CPU
// and memory of its cgroup.
package machine

import (
	"bytes"
	"os"
	"runtime"
	"strings"
)

// A Description identifies the machine and the Go version of a measurement.
// The packages that write results convert it to their own documented types.
type Description struct {
	System    string // GOOS/GOARCH
	Kernel    string // "" if the system does not report it
	Processor string // model name; "" if the system does not report it
	CPUs      int    // usable by this process
	Go        string // version that built this program
}

// Describe describes the current machine.
func Describe() Description {
	d := Description{
		System: runtime.GOOS + "/" + runtime.GOARCH,
		CPUs:   runtime.NumCPU(),
		Go:     runtime.Version(),
	}
	if release, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		d.Kernel = strings.TrimSpace(string(release))
	}
	if info, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		d.Processor = processorName(info)
	}
	return d
}

// processorName returns the first model name in /proc/cpuinfo.
func processorName(info []byte) string {
	for line := range bytes.Lines(info) {
		name, value, _ := bytes.Cut(line, []byte(":"))
		if string(bytes.TrimSpace(name)) == "model name" {
			return string(bytes.TrimSpace(value))
		}
	}
	return ""
}
