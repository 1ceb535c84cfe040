package load

import (
	"fmt"
	"net/netip"
	"os"
	"time"

	"github.com/weirhq/weir/internal/process"
)

// A serverWatch samples a server's process while requests are sent. The nil
// serverWatch does nothing.
type serverWatch struct {
	p      *process.Process
	tree   bool // the process has children, which are sampled with it
	found  ServerProcess
	every  time.Duration
	before process.Sample
	at     time.Duration // of before
}

const (
	sampleEvery = 50 * time.Millisecond
	mostSamples = 4096 // beyond, pairs are merged and the interval is doubled
)

// findServer returns a watch of the process with the given id. If that is 0, it
// watches the process that listens on the address. It returns nil if there is none.
func findServer(pid int, address string) (*serverWatch, error) {
	asked := pid > 0
	if pid == 0 {
		pid = listener(address)
	}
	if pid <= 0 || !asked && pid == os.Getpid() {
		return nil, nil
	}
	p, err := process.Open(pid)
	if err != nil && asked {
		return nil, fmt.Errorf("load: the plan's Process: %w", err)
	}
	if err != nil {
		return nil, nil // the run works without its samples
	}
	w := &serverWatch{p: p, every: sampleEvery, found: ServerProcess{PID: pid}}
	w.found.Command, _ = p.Command() // "" on error
	single, _ := p.Sample()
	tree, _ := p.SampleTree()
	w.tree = tree.Threads > single.Threads
	return w, nil
}

// listener returns the process that listens on an address of this machine; 0 if
// unknown.
func listener(address string) int {
	addr, err := netip.ParseAddrPort(address)
	if err != nil {
		return 0
	}
	pid, err := process.ListeningOn(addr)
	if err != nil {
		return 0
	}
	return pid
}

func (w *serverWatch) close() {
	if w != nil {
		w.p.Close()
	}
}

// watch samples until over is closed or the process has ended.
func (w *serverWatch) watch(now func() time.Duration, over <-chan struct{}) {
	if w == nil || !w.sample(now(), true) {
		return
	}
	for {
		select {
		case <-over:
			w.sample(now(), false)
			return
		case <-time.After(w.every):
			if !w.sample(now(), false) {
				return
			}
		}
	}
}

// sample takes a sample, and reports whether it could.
func (w *serverWatch) sample(now time.Duration, first bool) bool {
	take := w.p.Sample
	if w.tree {
		take = w.p.SampleTree
	}
	s, err := take()
	if err != nil {
		return false
	}
	w.found.PeakRSS = max(w.found.PeakRSS, s.RSS)
	if !first && now > w.at {
		used := (s.CPU - w.before.CPU).Seconds()
		w.found.CPUSeconds += used
		w.found.Samples = append(w.found.Samples, ServerSample{
			At: now.Seconds(), CPU: used / (now - w.at).Seconds(), RSS: s.RSS, Files: s.Files, Threads: s.Threads,
		})
	}
	w.before, w.at = s, now
	if len(w.found.Samples) >= mostSamples {
		w.thin()
	}
	return true
}

// thin merges pairs of samples, and doubles the interval.
func (w *serverWatch) thin() {
	half := w.found.Samples[:0]
	for i := 1; i < len(w.found.Samples); i += 2 {
		a, b := w.found.Samples[i-1], w.found.Samples[i]
		b.CPU, b.RSS = (a.CPU+b.CPU)/2, max(a.RSS, b.RSS)
		half = append(half, b)
	}
	w.found.Samples = half
	w.every *= 2
}

// result returns the samples; nil without any.
func (w *serverWatch) result() *ServerProcess {
	if w == nil || len(w.found.Samples) == 0 {
		return nil
	}
	return &w.found
}
