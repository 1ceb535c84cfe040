package watch

import (
	"github.com/weirhq/weir/internal/process"
	"github.com/weirhq/weir/lab/results"
)

// Processes are the processes of a service: a process and all its descendants, or those of a control group. The zero value
// are processes that are not known, such as those on another machine.
type Processes struct {
	PID    int
	Cgroup string // a folder of version 2; used if PID is 0
}

// open returns the source of samples of the processes.
func (p Processes) open() (source, error) {
	switch {
	case p.PID != 0:
		opened, err := process.Open(p.PID)
		if err != nil {
			return nil, err
		}
		return tree{opened}, nil
	case p.Cgroup != "":
		return openCgroup(p.Cgroup)
	}
	return unknown{}, nil
}

// A source samples processes, like [process.Process].
type source interface {
	SampleTree() (process.Sample, error)
	SampleKnown() (process.Sample, error)
	Switches() (process.Switches, error)
	FileLimit() (int64, error)
	PIDs() []int // of the processes that the last sample has found
	Close()

	// missing returns the parts that samples do not have.
	missing() []results.Missing
}

// A tree is a process with its descendants.
type tree struct{ *process.Process }

func (tree) missing() []results.Missing { return nil }

// unknown is the source of processes that are not known.
type unknown struct{}

func (unknown) SampleTree() (process.Sample, error)  { return process.Sample{}, nil }
func (unknown) SampleKnown() (process.Sample, error) { return process.Sample{}, nil }
func (unknown) Switches() (process.Switches, error)  { return process.Switches{}, nil }
func (unknown) FileLimit() (int64, error)            { return 0, nil }
func (unknown) PIDs() []int                          { return nil }
func (unknown) Close()                               {}

func (unknown) missing() (all []results.Missing) {
	for _, p := range results.Parts() {
		if p == results.Instructions { // which is seldom asked for
			continue
		}
		all = append(all, results.Missing{Part: p, Why: "neither service.pid nor service.cgroup names the processes of the " +
			"service"})
	}
	return all
}
