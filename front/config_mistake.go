package front

import (
	"errors"

	"github.com/weirhq/weir/internal/yamlfile"
)

// A Mistake is one mistake in a configuration or its file of redirects. What
// and Hint are one line each and contain no control characters.
type Mistake struct {
	File string
	Line int    // 1-based
	Col  int    // 1-based, in characters; of the wrong key or value
	What string // the problem, with the wrong value
	Hint string // how to correct it, or ""
}

// Error returns all fields on one line.
func (m Mistake) Error() string { return yamlfile.Mistake(m).Error() }

// Mistakes are all mistakes of a configuration, in file order.
type Mistakes []Mistake

// Error returns one line for each mistake.
func (ms Mistakes) Error() string { return errors.Join(ms.Unwrap()...).Error() }

// Unwrap lets errors.As find a single [Mistake].
func (ms Mistakes) Unwrap() []error {
	errs := make([]error, len(ms))
	for i, m := range ms {
		errs[i] = m
	}
	return errs
}
