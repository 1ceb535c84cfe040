package process

import (
	"errors"
	"os"
	"strconv"
)

// SampleTree returns what the process and all that descend from it use
// together. Who has been found once counts until it ends, even if its parent
// ends before. What ended children have used is in it when someone has waited
// for them, or still may. The error wraps [os.ErrProcessDone] when the process
// itself has ended.
//
// It asks every process of the machine for its parent, which takes some
// microseconds each: see SampleFamily.
func (p *Process) SampleTree() (Sample, error) {
	if err := p.findFamily(); err != nil {
		return Sample{}, p.failed("find the children of", err)
	}
	return p.SampleFamily()
}

// SampleFamily is a SampleTree that looks for nobody: it knows those who have
// been found before, and costs no more than a sample of each.
func (p *Process) SampleFamily() (Sample, error) {
	own, err := p.sample()
	if err != nil {
		return Sample{}, err
	}
	sum := own.withChildren()
	for pid, member := range p.family {
		one, err := member.sample()
		if err != nil && !errors.Is(err, os.ErrProcessDone) {
			return Sample{}, err
		}
		if err != nil && !one.zombie {
			p.threads.ended.add(member.threads.total())
			member.Close()
			delete(p.family, pid)
			continue
		}
		sum.add(one.withChildren())
	}
	return sum, nil
}

// withChildren returns the sample with what ended children have used.
func (s sample) withChildren() Sample {
	sum := s.Sample
	sum.User += s.childrenUser
	sum.System += s.childrenSystem
	sum.CPU += s.childrenUser + s.childrenSystem
	return sum
}

func (s *Sample) add(other Sample) {
	s.CPU += other.CPU
	s.User += other.User
	s.System += other.System
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

// findFamily opens the processes that descend from p and are not known yet.
func (p *Process) findFamily() error {
	parents, err := p.parents()
	if err != nil {
		return err
	}
	for found := true; found; {
		found = false
		for pid, parent := range parents {
			if pid == p.pid || p.family[pid] != nil || parent != p.pid && p.family[parent] == nil {
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
			if p.family == nil {
				p.family = make(map[int]*Process)
			}
			p.family[pid], found = member, true
		}
	}
	return nil
}

// parents returns each process's parent, by number.
func (p *Process) parents() (map[int]int, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	parents := make(map[int]int)
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		text, err := p.readFile(int(dir.Fd()), name+"/stat")
		if err != nil {
			continue // it has ended
		}
		if stat, ok := parseStat(text); ok {
			parents[pid] = stat.parent
		}
	}
	return parents, nil
}
