package follow

import "bytes"

// MaxLine is the maximum length of a line that is passed on whole, in bytes
// with its newline. Events are much shorter.
const MaxLine = 1 << 20

// Lines cuts a stream into lines. The zero value is ready.
type Lines struct {
	rest []byte // the beginning of an incomplete line
	long bool   // whether pieces of the line were passed on
}

// Cut calls emit with each line that part completes; part continues the data of
// the previous call. A line longer than [MaxLine] is passed on in pieces, with
// whole false.
//
// A line includes its newline. emit may use it until it returns. An error of
// emit ends Cut.
func (l *Lines) Cut(part []byte, emit func(line []byte, whole bool) error) error {
	for len(part) > 0 {
		end := bytes.IndexByte(part, '\n') + 1
		if end == 0 {
			return l.keep(part, emit)
		}
		line := part[:end]
		part = part[end:]
		if err := l.complete(line, emit); err != nil {
			return err
		}
	}
	return nil
}

// complete passes on a line, whose last part is end.
func (l *Lines) complete(end []byte, emit func(line []byte, whole bool) error) error {
	if len(l.rest)+len(end) > MaxLine {
		if err := l.piece(emit); err != nil {
			return err
		}
	}
	whole := !l.long
	l.long = false
	if len(l.rest) == 0 {
		return emit(end, whole)
	}
	line := append(l.rest, end...)
	l.rest = l.rest[:0]
	return emit(line, whole)
}

// keep stores the beginning of a line, unless it is too long.
func (l *Lines) keep(part []byte, emit func(line []byte, whole bool) error) error {
	if len(l.rest)+len(part) > MaxLine {
		if err := l.piece(emit); err != nil {
			return err
		}
	}
	if !l.long && len(part) <= MaxLine {
		l.rest = append(l.rest, part...)
		return nil
	}
	l.long = true
	return emit(part, false)
}

// piece passes on the stored part of a line that is too long.
func (l *Lines) piece(emit func(line []byte, whole bool) error) error {
	l.long = true
	rest := l.rest
	l.rest = l.rest[:0]
	if len(rest) == 0 {
		return nil
	}
	return emit(rest, false)
}

// End passes on the last line if it has no newline, at the end of a file.
func (l *Lines) End(emit func(line []byte, whole bool) error) error {
	rest, long := l.rest, l.long
	l.rest, l.long = l.rest[:0], false
	if len(rest) == 0 {
		return nil
	}
	return emit(rest, !long)
}
