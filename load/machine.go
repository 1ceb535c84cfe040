package load

import (
	"bytes"
	"os"
	"runtime"
	"strings"
)

// A Machine is where a run was made: of two results, those of different
// machines do not compare.
type Machine struct {
	System    string `json:"system"` // as in linux/amd64
	Kernel    string `json:"kernel,omitempty"`
	Processor string `json:"processor,omitempty"`
	CPUs      int    `json:"cpus"` // that this process may use
	Go        string `json:"go"`   // the version that this program was built with
}

// ThisMachine describes the machine that it is called on, as a Result does. What
// the system does not say stays empty.
func ThisMachine() Machine {
	m := Machine{
		System: runtime.GOOS + "/" + runtime.GOARCH,
		CPUs:   runtime.NumCPU(),
		Go:     runtime.Version(),
	}
	if release, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		m.Kernel = strings.TrimSpace(string(release))
	}
	if info, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		m.Processor = processorName(info)
	}
	return m
}

// processorName returns the first processor's name in what /proc/cpuinfo says.
func processorName(info []byte) string {
	for line := range bytes.Lines(info) {
		name, value, _ := bytes.Cut(line, []byte(":"))
		if string(bytes.TrimSpace(name)) == "model name" {
			return string(bytes.TrimSpace(value))
		}
	}
	return ""
}
