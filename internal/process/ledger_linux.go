package process

import "time"

// times holds CPU time and its parts, as in Sample.
type times struct{ cpu, user, system time.Duration }

func (t *times) add(other times) {
	t.cpu += other.cpu
	t.user += other.user
	t.system += other.system
}

func (t *times) subtract(other times) { t.add(times{-other.cpu, -other.user, -other.system}) }

func (s *Sample) addTimes(t times) {
	s.CPU += t.cpu
	s.User += t.user
	s.System += t.system
}

// A sample has additional values needed for process trees.
type sample struct {
	Sample
	children times // of children that the process has waited for
	zombie   bool  // ended, but its parent has not waited for it
}

// A ledger accounts for members of the tree that have ended. The kernel adds
// the times of an ended process to those of its parent when the parent waits
// for it. It discards them if the parent ignores SIGCHLD, as many servers do
// that fork for each connection. The parent may also have been sampled just
// before it waits.
type ledger struct {
	// owed is the time used by ended members at their last sample, minus the
	// later growth of the times of waited-for children: the time of those that
	// no process has waited for.
	owed times
}

// An entry holds the values of a member of the tree at its last sample.
type entry struct {
	seen            bool
	whole, children times // whole includes children
}

// note adds the times of a member's children to sum, which already includes its
// own times, and stores them in e.
func (l *ledger) note(e *entry, now sample, sum *Sample) {
	sum.addTimes(now.children)
	whole := now.children
	whole.add(times{now.CPU, now.User, now.System})
	if e.seen {
		l.owed.subtract(now.children)
		l.owed.add(e.children)
	} else {
		sum.Late += whole.cpu
	}
	*e = entry{true, whole, now.children}
}

// close accounts for a member that has ended.
func (l *ledger) close(e entry) { l.owed.add(e.whole) }

// settle adds to sum the time used by members that no process has waited for.
// If the times of children have grown by more than the known time of ended
// members, processes have ended that were never sampled.
func (l *ledger) settle(sum *Sample) {
	sum.Late += max(0, -l.owed.cpu)
	l.owed = times{max(0, l.owed.cpu), max(0, l.owed.user), max(0, l.owed.system)}
	sum.addTimes(l.owed)
}
