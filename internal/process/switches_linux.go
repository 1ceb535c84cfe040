package process

import (
	"strconv"

	"golang.org/x/sys/unix"
)

func (s *Switches) add(other Switches) {
	s.Voluntary += other.Voluntary
	s.Forced += other.Forced
}

func (t *threads) total() Switches {
	sum := t.ended
	for _, s := range t.living {
		sum.add(s)
	}
	return sum
}

// Switches returns the number of context switches of all threads of the process
// and of the tree that SampleTree has found. It never decreases. It misses
// the switches of a thread between the last call and its end, and those of
// threads that ended without having been seen. The error wraps
// [os.ErrProcessDone] if the process has ended.
//
// The cost is a few microseconds per thread.
func (p *Process) Switches() (Switches, error) {
	if err := p.countSwitches(); err != nil {
		return Switches{}, p.failed("count the switches of", err)
	}
	sum := p.threads.total()
	for _, member := range p.descendants {
		if err := member.countSwitches(); err != nil && !isGone(err) {
			return Switches{}, member.failed("count the switches of", err)
		}
		sum.add(member.threads.total())
	}
	return sum, nil
}

// countSwitches reads the counts of all threads.
func (p *Process) countSwitches() error {
	dir, err := unix.Openat(p.dir, "task", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(dir)
	names, err := p.names(dir)
	if err != nil {
		return err
	}
	living := make(map[int]Switches, len(names))
	for _, name := range names {
		id, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if text, err := p.readFile(dir, name+"/status"); err == nil { // else the thread has ended
			living[id] = switchesIn(text)
		}
	}
	for id, before := range p.threads.living {
		if now, ok := living[id]; !ok || now.Voluntary < before.Voluntary { // the second case is a reused ID
			p.threads.ended.add(before)
		}
	}
	p.threads.living = living
	return nil
}

// names returns the names in a directory.
func (p *Process) names(dir int) (names []string, err error) {
	for {
		n, err := unix.ReadDirent(dir, p.text)
		if err != nil {
			return nil, err
		}
		if n <= 0 {
			return names, nil
		}
		_, _, names = unix.ParseDirent(p.text[:n], -1, names)
	}
}

// switchesIn parses the counts in a thread's status.
func switchesIn(status []byte) Switches {
	return Switches{
		Voluntary: statusNumber(status, "\nvoluntary_ctxt_switches:"),
		Forced:    statusNumber(status, "\nnonvoluntary_ctxt_switches:"),
	}
}
