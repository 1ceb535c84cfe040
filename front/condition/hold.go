package condition

import (
	"fmt"

	"github.com/weirhq/weir/front/stage"
	"github.com/weirhq/weir/internal/proxying"
)

// Hold reports whether the conditions hold for a request.
func (s *Set) Hold(x *stage.Exchange) bool {
	for i := range s.Headers {
		if !header(x, &s.Headers[i]) {
			return false
		}
	}
	for i := range s.Query {
		if !parameter(x, &s.Query[i]) {
			return false
		}
	}
	for i := range s.Cookies {
		if !cookie(x, &s.Cookies[i]) {
			return false
		}
	}
	return true
}

// cookie reports whether a condition for a cookie holds.
func cookie(x *stage.Exchange, c *Condition) bool {
	found := proxying.FindCookie(x.Header, func(name, value string) bool {
		return name == c.Name && (c.Test != HasValue || value == c.Value)
	})
	return found != (c.Test == IsAbsent)
}

// header reports whether a condition for a header field holds.
func header(x *stage.Exchange, c *Condition) bool {
	for i := range x.Header {
		f := &x.Header[i]
		if stage.Named(f, c.Name) && (c.Test != HasValue || f.Value == c.Value) {
			return c.Test != IsAbsent
		}
	}
	return c.Test == IsAbsent
}

// parameter reports whether a condition for a parameter of the query holds.
func parameter(x *stage.Exchange, c *Condition) bool {
	for _, p := range x.Parameters() {
		if p.Name == c.Name && (c.Test != HasValue || p.Value == c.Value) {
			return c.Test != IsAbsent
		}
	}
	return c.Test == IsAbsent
}

// Explain calls explained with each condition, such as "X-Beta is 1", and whether it holds for a
// request.
func (s *Set) Explain(x *stage.Exchange, explained func(condition string, holds bool)) {
	for _, list := range []struct {
		prefix     string
		conditions []Condition
		holds      func(*stage.Exchange, *Condition) bool
	}{{"", s.Headers, header}, {"?", s.Query, parameter}, {"cookie ", s.Cookies, cookie}} {
		for i := range list.conditions {
			c := &list.conditions[i]
			text := list.prefix + c.Name + map[Test]string{HasValue: fmt.Sprintf(" is %q", c.Value),
				IsPresent: " is present", IsAbsent: " is absent"}[c.Test]
			explained(text, list.holds(x, c))
		}
	}
}
