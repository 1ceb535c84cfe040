package service

import (
	"fmt"
	"time"
)

// A Running is a service that this process has not started and does not stop. Its output is not known.
type Running struct {
	pid             int
	cgroup          string // a folder
	detached, ended chan struct{}
}

// Detach releases the resources of r. It may be called once.
func (r *Running) Detach() { close(r.detached) }

// PID returns the PID of the process, or 0 if it is not known.
func (r *Running) PID() int { return r.pid }

// Cgroup returns the folder of the control group, or "".
func (r *Running) Cgroup() string { return r.cgroup }

// Ended returns a channel that is closed soon after the process, or all processes of the control group, have ended.
func (r *Running) Ended() <-chan struct{} { return r.ended }

// String names the service.
func (r *Running) String() string {
	switch {
	case r.pid != 0:
		return fmt.Sprintf("process %d", r.pid)
	case r.cgroup != "":
		return "the last process of the control group " + r.cgroup
	}
	return "the service"
}

// Count returns nothing, because the output is not known.
func (*Running) Count() Count { return Count{} }

// Lines returns 0, because the output is not known.
func (*Running) Lines() int64 { return 0 }

// CPU returns 0, because reading no output takes no time.
func (*Running) CPU() time.Duration { return 0 }

// Hold does nothing, because there is no reader to suspend.
func (*Running) Hold(_, _ time.Time) {}
