package follow

import "bytes"

// MaxLine is the greatest length of a line that is handed on whole, in bytes,
// its newline included. No event is nearly as long.
const MaxLine = 1 << 20

// Lines cuts a stream into lines. The zero value is ready.
type Lines struct {
	rest []byte // the beginning of a line whose end has not come
	long bool   // whether pieces of the line have been handed on
}

// Cut hands emit each line that part, which continues what came before,
// completes. A line longer than [MaxLine] comes in pieces, for which whole is
// false; so does the end of a file without a newline, though it is whole.
//
// A line has its newline, and is emit's only until that returns. An error of
// emit's ends Cut.
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

// complete hands on a line of which end is the end.
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

// keep remembers the beginning of a line, as long as it may be one.
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

// piece hands on what there is of a line that is too long.
func (l *Lines) piece(emit func(line []byte, whole bool) error) error {
	l.long = true
	rest := l.rest
	l.rest = l.rest[:0]
	if len(rest) == 0 {
		return nil
	}
	return emit(rest, false)
}

// End hands on what is left of a line that has no newline, at the end of a
// file.
func (l *Lines) End(emit func(line []byte, whole bool) error) error {
	rest, long := l.rest, l.long
	l.rest, l.long = l.rest[:0], false
	if len(rest) == 0 {
		return nil
	}
	return emit(rest, !long)
}
