package process

import "time"

// times are CPU time and its parts, as a Sample has them.
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

// A ledger follows what members of a family have used when they have ended. The
// kernel adds that to the times of the parent who waits for them. It forgets the
// times of those whose parent does not care (SIGCHLD is ignored), as of many who
// fork for each connection, and a parent may have been asked just before.
type ledger struct {
	// owed is what members had used when they were seen last, less what the times
	// of ended children have grown by since: that of nobody waited for.
	owed times
}

// An entry is what a member of the family was last seen with.
type entry struct {
	seen            bool
	whole, children times // whole is its own with its children's
}

// note adds the children's times of a member to the sum of all, to which its own
// were added, and notes what it has.
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

// close is for a member that is gone.
func (l *ledger) close(e entry) { l.owed.add(e.whole) }

// settle adds to the sum what was used by those that nobody has waited for. When
// the children's times have grown by more than was seen, others have ended that
// were not seen.
func (l *ledger) settle(sum *Sample) {
	sum.Late += max(0, -l.owed.cpu)
	l.owed = times{max(0, l.owed.cpu), max(0, l.owed.user), max(0, l.owed.system)}
	sum.addTimes(l.owed)
}
