package errs

import "iter"

// chain yields err and the errors that it wraps, outermost first, where there
// are several those of the first before the second. It ends after maxChain.
func chain(err error) iter.Seq[error] {
	return func(yield func(error) bool) {
		left := maxChain
		walk(err, &left, yield)
	}
}

// walk yields err and what it wraps while left allows, and reports whether to
// go on.
func walk(err error, left *int, yield func(error) bool) bool {
	for err != nil {
		if *left--; *left < 0 || !yield(err) {
			return false
		}
		switch u := err.(type) {
		case interface{ Unwrap() error }:
			err = u.Unwrap()
		case interface{ Unwrap() []error }:
			for _, one := range u.Unwrap() {
				if !walk(one, left, yield) {
					return false
				}
			}
			return true
		default:
			return true
		}
	}
	return true
}
