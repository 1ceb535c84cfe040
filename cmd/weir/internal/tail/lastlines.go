package tail

// maxHeld limits the last lines of a pipe that are kept in memory.
const maxHeld = 100_000

// lastLines holds the last n lines of a stream.
type lastLines struct {
	n     int
	lines []heldLine
	next  int // the line to replace next, once there are n
}

type heldLine struct {
	text  []byte
	whole bool
}

func (l *lastLines) add(line []byte, whole bool) {
	switch {
	case l.n == 0:
	case len(l.lines) < l.n:
		l.lines = append(l.lines, heldLine{append([]byte(nil), line...), whole})
	default:
		held := &l.lines[l.next]
		held.text, held.whole = append(held.text[:0], line...), whole
		l.next = (l.next + 1) % l.n
	}
}

// each calls do for each line, oldest first.
func (l *lastLines) each(do func(line []byte, whole bool) error) error {
	for i := range l.lines {
		held := l.lines[(l.next+i)%len(l.lines)]
		if err := do(held.text, held.whole); err != nil {
			return err
		}
	}
	return nil
}
