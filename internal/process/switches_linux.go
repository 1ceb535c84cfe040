package process

import (
	"strconv"

	"golang.org/x/sys/unix"
)

// threads knows what the threads of a process were counted to have, for the
// kernel forgets a thread's switches when it ends.
type threads struct {
	living map[int]Switches // by thread
	ended  Switches         // of threads that have ended, and of processes of the family
}

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

// Switches returns how often all threads of the process were switched, with
// those of the family that SampleTree has found. It never goes back. What a
// thread did between the last call and its end is missing, as is everything of
// those that ended before they were seen. The error wraps [os.ErrProcessDone]
// when the process has ended.
//
// Each thread is asked, which takes some microseconds each.
func (p *Process) Switches() (Switches, error) {
	if err := p.countSwitches(); err != nil {
		return Switches{}, p.failed("count the switches of", err)
	}
	sum := p.threads.total()
	for _, member := range p.family {
		if err := member.countSwitches(); err != nil && !isGone(err) {
			return Switches{}, member.failed("count the switches of", err)
		}
		sum.add(member.threads.total())
	}
	return sum, nil
}

// countSwitches asks all threads.
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
		if text, err := p.readFile(dir, name+"/status"); err == nil { // else it has ended
			living[id] = switchesIn(text)
		}
	}
	for id, before := range p.threads.living {
		if now, ok := living[id]; !ok || now.Voluntary < before.Voluntary { // another one has its number
			p.threads.ended.add(before)
		}
	}
	p.threads.living = living
	return nil
}

// names returns what is in a directory.
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

// switchesIn reads them from a thread's status.
func switchesIn(status []byte) Switches {
	return Switches{
		Voluntary: statusNumber(status, "\nvoluntary_ctxt_switches:"),
		Forced:    statusNumber(status, "\nnonvoluntary_ctxt_switches:"),
	}
}
