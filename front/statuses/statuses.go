// Package statuses has sets of statuses of HTTP.
package statuses

import (
	"fmt"
	"slices"
	"strings"
)

// A Range is the statuses from First to Last.
type Range struct{ First, Last int }

// String returns the form in a configuration: 404, 500-502, or 5xx.
func (r Range) String() string {
	switch {
	case r.First == r.Last:
		return fmt.Sprint(r.First)
	case r.First%100 == 0 && r.Last == r.First+99:
		return fmt.Sprintf("%dxx", r.First/100)
	}
	return fmt.Sprintf("%d-%d", r.First, r.Last)
}

// A Set is the statuses of several ranges. The nil Set is empty.
type Set []Range

// Contains reports whether a status is in the set.
func (s Set) Contains(status int) bool {
	return slices.ContainsFunc(s, func(r Range) bool { return r.First <= status && status <= r.Last })
}

// String returns the ranges, separated by "or".
func (s Set) String() string {
	var texts []string
	for _, r := range s {
		texts = append(texts, r.String())
	}
	return strings.Join(texts, " or ")
}
