package front

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Mistake is one thing wrong with a configuration file. What names the value
// that is wrong and Hint, which may be empty, says what to do about it; both
// fit on a line and hold nothing that a terminal would act on.
type Mistake struct {
	File string
	Line int // 1-based
	Col  int // 1-based, in characters; of the key or value that is wrong
	What string
	Hint string
}

func (m Mistake) Error() string {
	if m.Hint == "" {
		return fmt.Sprintf("%s:%d:%d: %s", m.File, m.Line, m.Col, m.What)
	}
	return fmt.Sprintf("%s:%d:%d: %s; %s", m.File, m.Line, m.Col, m.What, m.Hint)
}

// Mistakes is everything wrong with a file, in the order of the file.
type Mistakes []Mistake

// Error returns one line for each mistake.
func (ms Mistakes) Error() string {
	lines := make([]string, len(ms))
	for i, m := range ms {
		lines[i] = m.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap lets errors.As find a single [Mistake].
func (ms Mistakes) Unwrap() []error {
	errs := make([]error, len(ms))
	for i, m := range ms {
		errs[i] = m
	}
	return errs
}

// sort puts the mistakes into the order of the file; those at the same place
// stay in the order in which they were found.
func (ms Mistakes) sort() {
	slices.SortStableFunc(ms, func(a, b Mistake) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
	})
}
