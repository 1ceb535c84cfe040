// Package condition restricts routes, and the shares of a split, to some of the requests that match a
// pattern: the key when. It has the conditions, their keys with the mistakes, and their comparison
// with requests.
package condition

import (
	"slices"
	"strings"
)

// A Set restricts a route, or a share of a split. All of its conditions must hold. The zero value
// holds for all requests.
type Set struct {
	Headers []Condition // for header fields, whose names are case-insensitive
	Query   []Condition // for parameters of the query, after unescaping
	Cookies []Condition // for cookies
}

// A Condition is a condition for a header field, a parameter or a cookie. Each may occur
// several times in a request.
type Condition struct {
	Name  string
	Test  Test
	Value string // only for HasValue
}

// A Test is the kind of a condition.
type Test uint8

const (
	HasValue  Test = iota // one of the values is exactly Value
	IsPresent             // there is a value, which may be empty
	IsAbsent              // there is no value
)

// None reports whether there are no conditions.
func (s Set) None() bool { return len(s.Headers)+len(s.Query)+len(s.Cookies) == 0 }

// OrNil returns the set, or nil if there are no conditions.
func (s Set) OrNil() *Set {
	if s.None() {
		return nil
	}
	return &s
}

// Names returns the conditions without their values, which may be secret, such as
// "X-Beta and no ?debug"; "" for no conditions.
func (s Set) Names() string {
	var all []string
	for _, h := range s.Headers {
		all = append(all, h.negation()+h.Name)
	}
	for _, q := range s.Query {
		all = append(all, q.negation()+"?"+q.Name)
	}
	for _, c := range s.Cookies {
		all = append(all, c.negation()+"cookie "+c.Name)
	}
	return strings.Join(all, " and ")
}

func (c Condition) negation() string {
	if c.Test == IsAbsent {
		return "no "
	}
	return ""
}

func sameText(a, b string) bool { return a == b }

// Implies reports whether other holds for every request that s holds for.
func (s Set) Implies(other Set) bool {
	return implyAll(s.Headers, other.Headers, strings.EqualFold) &&
		implyAll(s.Query, other.Query, sameText) && implyAll(s.Cookies, other.Cookies, sameText)
}

func implyAll(list, implied []Condition, equal func(a, b string) bool) bool {
	for _, d := range implied {
		if !slices.ContainsFunc(list, func(c Condition) bool {
			return equal(c.Name, d.Name) && (c.Test == d.Test && c.Value == d.Value ||
				c.Test == HasValue && d.Test == IsPresent)
		}) {
			return false
		}
	}
	return true
}
