package process

import (
	"errors"
	"os"
	"slices"
	"strconv"
	"time"
)

// SampleTree returns what the process and all that descend from it use
// together. Who has been found once counts until it ends, even if its parent
// ends before. What ended children have used is in it: when someone has waited
// for them, or still may, all of it, and otherwise what they had used when they
// were sampled last. The error wraps [os.ErrProcessDone] when the process
// itself has ended.
//
// It lists the processes of the machine, and asks those that it has not seen
// before for their parents, which takes some microseconds each: see
// SampleFamily.
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
	sum := own.Sample
	p.ledger.note(&p.entry, own, &sum)
	// Parents come first: of who ends meanwhile, the parent may not know yet, but
	// nobody is counted both as living and by his parent.
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
			delete(p.family, member.pid)
		default:
			return Sample{}, err
		}
	}
	p.members = slices.DeleteFunc(p.members, func(m *Process) bool { return p.family[m.pid] != m })
	p.ledger.settle(&sum)
	return sum, nil
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

// settled are processes, by number, of which the last look for descendants of
// one has told whether they are. They need not be asked again: a process gets
// another parent when its own ends, but no new ancestors.
type settled struct {
	known map[int]bool
	at    time.Time
}

// numbersLast is how long the kernel surely takes to give a number to another
// process: it goes through all the others before.
const numbersLast = 10 * time.Second

// findFamily opens the processes that descend from p and are not known yet.
func (p *Process) findFamily() error {
	now := time.Now()
	if now.Sub(p.settled.at) > numbersLast {
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
		// Parents are listed before their children. One that is not may be of the
		// family, born where the list had passed or ended before it was asked.
		parent, asked := parents[pid]
		if p.settled.known[pid] || asked && (parent == 0 || settled[parent]) {
			settled[pid] = true
		}
	}
	p.settled.known, p.settled.at = settled, now
	return nil
}

// adopt takes into the family whose parent is p or in the family, and takes
// them out of parents, so that they are asked once more: their number may have
// gone to another process before they were opened.
func (p *Process) adopt(parents map[int]int) error {
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
			p.members = append(p.members, member)
		}
	}
	return nil
}

// parents lists all processes, and returns the parent of each that is not
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
			continue // it has ended
		}
		if stat, _, ok := parseStat(text); ok {
			parents[pid] = stat.Parent
		}
	}
	return listed, parents, nil
}
