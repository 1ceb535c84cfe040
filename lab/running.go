package lab

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/weirhq/weir/internal/process"
	"github.com/weirhq/weir/lab/experiment"
	"github.com/weirhq/weir/lab/internal/service"
	"github.com/weirhq/weir/lab/internal/watch"
	"github.com/weirhq/weir/lab/results"
	"github.com/weirhq/weir/load"
)

// A subject is the service of a run: one that the lab has started, or one that already runs.
type subject interface {
	PID() int // 0 if it is not known
	Ended() <-chan struct{}
	Count() service.Count
	Lines() int64
	CPU() time.Duration
	Hold(from, until time.Time)
}

// processesOf returns the processes that the settings of a running service name.
func processesOf(s experiment.Service) watch.Processes {
	return watch.Processes{PID: s.PID, Cgroup: s.Cgroup}
}

// processes returns the processes to watch.
func (a *attempt) processes() watch.Processes {
	if running, ok := a.service.(*service.Running); ok {
		return watch.Processes{PID: running.PID(), Cgroup: running.Cgroup()}
	}
	return watch.Processes{PID: a.service.PID()}
}

// endedError returns the error that the service has ended.
func (a *attempt) endedError(when string) error {
	if running, ok := a.service.(*service.Running); ok {
		return fmt.Errorf("%v ended %s", running, when)
	}
	return fmt.Errorf("%w %s", errEnded, when)
}

// closesBefore is the time that a process may take to end after it has closed its connections.
const closesBefore = 200 * time.Millisecond

// closedBeforeEnd reports whether requests failed because a running service has ended: its connections fail a moment before.
func (a *attempt) closedBeforeEnd(result *load.Result) bool {
	if !a.Service.Running() || result != nil && result.Sent == result.Requests {
		return false
	}
	select {
	case <-a.service.Ended():
		return true
	case <-time.After(closesBefore):
		return false
	}
}

// attach finds the service of a configuration that already runs, and keeps it until the end of the session: its PID may be
// reused later. It returns an error unless something accepts connections at the service's URL, and if that is
// another process.
func (s *session) attach(ctx context.Context, c experiment.Case) error {
	of := processesOf(c.Service)
	running, ok := s.attached[of]
	if !ok {
		var err error
		if running, err = service.Attach(of.PID, of.Cgroup); err != nil {
			return err
		}
		s.attached[of] = running
	}
	trial := &attempt{session: s, Case: c, run: &results.Run{}, service: running, url: c.Service.URL}
	client := readyClient()
	defer client.CloseIdleConnections()
	if err := trial.checkReady(ctx, client); err != nil {
		if trial.url == "" {
			return fmt.Errorf("find the URL of %v: %w; name it by service.url", running, err)
		}
		return fmt.Errorf("there is no service at %s: %w", trial.url, err)
	}
	if err := trial.checkAnswerer(ctx); err != nil {
		return err
	}
	for _, warning := range trial.run.Warnings {
		s.reporter.change(func(p *Progress) { p.Line = "weir: warning: " + c.Name + ": " + warning })
	}
	return nil
}

// detach ends the watch for the ends of running services.
func (s *session) detach() {
	for _, running := range s.attached {
		running.Detach()
	}
}

// checkRunning is checkAnswerer for a service that already runs. A process in another network namespace, such as a
// container's, may respond at an address that another process forwards, so this is a warning.
func (a *attempt) checkRunning(running *service.Running) error {
	switch {
	case running.PID() != 0:
		return a.checkProcess(running.PID())
	case running.Cgroup() != "":
		pid, err := process.ListeningOn(a.reached)
		if err != nil {
			a.warnUnknownListener(err)
		} else if !slices.Contains(process.InCgroup(running.Cgroup()), pid) {
			a.warn("%s responds at %s, and is not in the control group %s: the measures are those of the group",
				listener(a.reached), a.url, running.Cgroup())
		}
	}
	return nil
}

// checkProcess checks that a process or a descendant of it listens at the address of the service.
func (a *attempt) checkProcess(pid int) error {
	p, err := process.Open(pid)
	if err != nil {
		return nil // it has ended
	}
	defer p.Close()
	ok, err := p.AnswersAt(a.reached)
	if stat, gone := process.ReadStat(pid); gone != nil || stat.Ended() {
		return nil
	}
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		a.warnUnknownListener(err)
	case err == nil && !ok && elsewhere(pid):
		a.warn("%s responds at %s, and process %d is in another network namespace: the measures are those of process %[3]d",
			listener(a.reached), a.url, pid)
	case err == nil && !ok:
		return fmt.Errorf("%s responds at %s, which is neither process %d nor a child of it: the lab would measure the CPU of "+
			"one process and the responses of another", listener(a.reached), a.url, pid)
	case err == nil:
		a.warnOfSiblings(p, pid)
	}
	return nil
}

func (a *attempt) warnUnknownListener(err error) {
	a.warn("the process that responds at %s is not known (%v): the lab cannot check that it is the one that is measured",
		a.url, err)
}

// warnOfSiblings warns if the process is one of several that an older one has forked to share the listener.
func (a *attempt) warnOfSiblings(p *process.Process, pid int) {
	oldest, err := process.ListeningOn(a.reached)
	if err != nil || oldest == pid {
		return
	}
	if stat, err := process.ReadStat(pid); err == nil && stat.Parent == oldest {
		a.warn("process %d, the parent of process %d, listens at %s too: others of its children may share the requests, and "+
			"their CPU and memory are not measured; name the parent", oldest, pid, a.url)
	}
}

// elsewhere reports whether a process is in another network namespace than this one, as far as that is known.
func elsewhere(pid int) bool {
	own, err := os.Readlink("/proc/self/ns/net")
	if err != nil {
		return false
	}
	its, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/ns/net")
	return err == nil && own != its
}
