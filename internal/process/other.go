//go:build !linux

package process

import (
	"errors"
	"fmt"
	"net/netip"
	"runtime"
)

// A Process is a process to sample, which is supported only on Linux.
type Process struct{}

func unsupported(operation string) error {
	return fmt.Errorf("%s on %s: %w", operation, runtime.GOOS, errors.ErrUnsupported)
}

// Open returns an error that wraps [errors.ErrUnsupported].
func Open(int) (*Process, error) { return nil, unsupported("sample a process") }

// Close does nothing.
func (*Process) Close() {}

// PIDs cannot be called, because Open returns no Process.
func (*Process) PIDs() []int { return nil }

// Sample cannot be called, because Open returns no Process.
func (*Process) Sample() (Sample, error) { return Sample{}, unsupported("sample a process") }

// SampleTree cannot be called, because Open returns no Process.
func (*Process) SampleTree() (Sample, error) { return Sample{}, unsupported("sample processes") }

// SampleKnown cannot be called, because Open returns no Process.
func (*Process) SampleKnown() (Sample, error) { return Sample{}, unsupported("sample processes") }

// Switches cannot be called, because Open returns no Process.
func (*Process) Switches() (Switches, error) { return Switches{}, unsupported("count switches") }

// FileLimit cannot be called, because Open returns no Process.
func (*Process) FileLimit() (int64, error) { return 0, unsupported("read a process's limits") }

// Listening cannot be called, because Open returns no Process.
func (*Process) Listening() ([]netip.AddrPort, error) {
	return nil, unsupported("find where a process listens")
}

// AnswersAt cannot be called, because Open returns no Process.
func (*Process) AnswersAt(netip.AddrPort) (bool, error) { return false, unsupported("list files") }

// Command cannot be called, because Open returns no Process.
func (*Process) Command() (string, error) { return "", unsupported("read a process's command") }

// SelfThread returns an error that wraps [errors.ErrUnsupported].
func SelfThread() (Thread, error) { return Thread{}, unsupported("sample a thread") }

// ReadStat returns an error that wraps [errors.ErrUnsupported].
func ReadStat(int) (Stat, error) { return Stat{}, unsupported("read the stat of a process") }

// ReadStats returns an error that wraps [errors.ErrUnsupported].
func ReadStats() (map[int]Stat, error) { return nil, unsupported("read the stats of processes") }

// ListeningOn returns an error that wraps [errors.ErrUnsupported].
func ListeningOn(netip.AddrPort) (int, error) {
	return 0, unsupported("find the process that listens")
}
