//go:build !linux

package process

import (
	"errors"
	"fmt"
	"net/netip"
	"runtime"
)

// A Process is one that is sampled, which is possible on Linux alone.
type Process struct{}

func unsupported(what string) error {
	return fmt.Errorf("%s on %s: %w", what, runtime.GOOS, errors.ErrUnsupported)
}

// Open returns an error that wraps [errors.ErrUnsupported].
func Open(int) (*Process, error) { return nil, unsupported("sample a process") }

// Close does nothing.
func (*Process) Close() {}

// Sample is not called: there is no Process.
func (*Process) Sample() (Sample, error) { return Sample{}, unsupported("sample a process") }

// SampleTree is not called: there is no Process.
func (*Process) SampleTree() (Sample, error) { return Sample{}, unsupported("sample processes") }

// SampleFamily is not called: there is no Process.
func (*Process) SampleFamily() (Sample, error) { return Sample{}, unsupported("sample processes") }

// Switches is not called: there is no Process.
func (*Process) Switches() (Switches, error) { return Switches{}, unsupported("count switches") }

// FileLimit is not called: there is no Process.
func (*Process) FileLimit() (int64, error) { return 0, unsupported("read a process's limits") }

// Listening is not called: there is no Process.
func (*Process) Listening() ([]netip.AddrPort, error) {
	return nil, unsupported("find where a process listens")
}

// AnswersAt is not called: there is no Process.
func (*Process) AnswersAt(netip.AddrPort) (bool, error) { return false, unsupported("list files") }

// Command is not called: there is no Process.
func (*Process) Command() (string, error) { return "", unsupported("read a process's command") }

// SelfThread returns an error that wraps [errors.ErrUnsupported].
func SelfThread() (Thread, error) { return Thread{}, unsupported("sample a thread") }

// ReadStat returns an error that wraps [errors.ErrUnsupported].
func ReadStat(int) (Stat, error) { return Stat{}, unsupported("read the stat of a process") }

// ListeningOn returns an error that wraps [errors.ErrUnsupported].
func ListeningOn(netip.AddrPort) (int, error) {
	return 0, unsupported("find the process that listens")
}
