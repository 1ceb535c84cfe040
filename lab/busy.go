package lab

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/weirhq/weir/internal/machine"
)

// lookFor is how long the lab watches the machine before the first run.
const lookFor = 500 * time.Millisecond

// lookAtMachine says before the first run that other processes use the processors, and not only after all of them.
func (s *session) lookAtMachine(ctx context.Context) {
	s.reporter.change(func(p *Progress) { p.Step = Looking })
	var m machine.BusyMeter
	m.Processors()
	select {
	case <-ctx.Done():
		return
	case <-time.After(lookFor):
	}
	if line := busyLine(m.Processors(), runtime.NumCPU()); line != "" {
		s.reporter.change(func(p *Progress) { p.Line = line })
	}
}

// busyShare is the share of the processors that other processes may use.
const busyShare = 0.1

// busyLine returns "" if the machine is not busy, or does not say how busy it is.
func busyLine(busy *float64, processors int) string {
	if busy == nil || *busy < busyShare*float64(processors) {
		return ""
	}
	return fmt.Sprintf("weir: other processes use %.1f of the %d processors before the first run: end them, or only large "+
		"differences will be found", *busy, processors)
}
