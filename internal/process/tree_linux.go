package process

import (
	"errors"
	"os"
	"slices"
	"strconv"
	"time"
)

// SampleTree returns the resources of the process and all its descendants, its
// tree. A descendant that was found once counts until it ends, even if its
// parent ends earlier. The sample includes the times of ended children: all of
// their time if a process has waited for them or can still do so, and otherwise
// the time at their last sample. The error wraps [os.ErrProcessDone] if the
// process itself has ended.
//
// It lists the processes of the machine and reads the parent of each new one,
// which takes a few microseconds each; see SampleKnown.
func (p *Process) SampleTree() (Sample, error) {
	if err := p.findDescendants(); err != nil {
		return Sample{}, p.failed("find the children of", err)
	}
	return p.SampleKnown()
}

// SampleKnown is like SampleTree but does not search for new descendants. Its
// cost is one sample for each known one.
func (p *Process) SampleKnown() (Sample, error) {
	own, err := p.sample()
	if err != nil {
		return Sample{}, err
	}
	sum := own.Sample
	p.ledger.note(&p.entry, own, &sum)
	// Parents come first. If a member ends meanwhile, its parent's times may
	// not include it yet, but it is never counted twice.
	for _, member := range p.members {
		one, err := member.sample()
		switch {
		case err == nil || one.zombie:
			sum.add(one.Sample)
			p.ledger.note(&member.entry, one, &sum)
		case errors.Is(err, os.ErrProcessDone):
			p.ledger.close(member.entry)
			p.threads.ended.add(member.threads.total())
			member.Close()
			delete(p.descendants, member.pid)
		default:
			return Sample{}, err
		}
	}
	p.members = slices.DeleteFunc(p.members, func(m *Process) bool { return p.descendants[m.pid] != m })
	p.ledger.settle(&sum)
	return sum, nil
}

// PIDs returns the process and its descendants, those that SampleTree has found.
func (p *Process) PIDs() []int {
	pids := []int{p.pid}
	for _, member := range p.members {
		pids = append(pids, member.pid)
	}
	return pids
}

func (s *Sample) add(other Sample) {
	s.addTimes(times{other.CPU, other.User, other.System})
	s.RSS += other.RSS
	s.PeakRSS += other.PeakRSS
	s.Threads += other.Threads
	s.Processes += other.Processes
	if s.Files >= 0 && other.Files >= 0 {
		s.Files += other.Files
	} else {
		s.Files = -1
	}
}

// pidReuseAfter is a time in which the kernel certainly does not reuse a PID,
// because it first goes through all others.
const pidReuseAfter = 10 * time.Second

// findDescendants opens the descendants of p that are not known yet.
func (p *Process) findDescendants() error {
	now := time.Now()
	if now.Sub(p.settled.at) > pidReuseAfter {
		p.settled.known = nil
	}
	listed, parents, err := p.parents()
	if err != nil {
		return err
	}
	if err := p.adopt(parents); err != nil {
		return err
	}
	settled := make(map[int]bool, len(listed))
	for _, pid := range listed {
		// Parents are listed before their children. If a parent is not listed,
		// it may belong to the tree: it was created after the list had passed
		// its PID, or ended before it was read.
		parent, asked := parents[pid]
		if p.settled.known[pid] || asked && (parent == 0 || settled[parent]) {
			settled[pid] = true
		}
	}
	p.settled.known, p.settled.at = settled, now
	return nil
}

// adopt adds the processes in parents whose parent is p or in the tree, and
// removes them from parents. They are therefore checked again, because their
// PID may have been reused before they were opened.
func (p *Process) adopt(parents map[int]int) error {
	for found := true; found; {
		found = false
		for pid, parent := range parents {
			if pid == p.pid || p.descendants[pid] != nil || parent != p.pid && p.descendants[parent] == nil {
				continue
			}
			delete(parents, pid)
			member, err := Open(pid)
			if errors.Is(err, os.ErrProcessDone) {
				continue
			}
			if err != nil {
				return err
			}
			if p.descendants == nil {
				p.descendants = make(map[int]*Process)
			}
			p.descendants[pid], found = member, true
			p.members = append(p.members, member)
		}
	}
	return nil
}

// parents lists all processes and returns the parent of each one that is not
// settled.
func (p *Process) parents() (listed []int, parents map[int]int, err error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, nil, err
	}
	parents = make(map[int]int)
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if listed = append(listed, pid); p.settled.known[pid] {
			continue
		}
		text, err := p.readFile(int(dir.Fd()), name+"/stat")
		if err != nil {
			continue // the process has ended
		}
		if stat, _, ok := parseStat(text); ok {
			parents[pid] = stat.Parent
		}
	}
	return listed, parents, nil
}
