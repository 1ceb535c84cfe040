// Package condition finds out whether the conditions of a route, or of a share of a split, hold for a
// request.
package condition

import (
	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/stage"
	"github.com/weirhq/weir/internal/httpsyntax"
	"github.com/weirhq/weir/proxy"
)

// Of returns conditions, or nil if there are none.
func Of(c config.Conditions) *config.Conditions {
	if c.None() {
		return nil
	}
	return &c
}

// Hold reports whether conditions hold for the request.
func Hold(x *stage.Exchange, when *config.Conditions) bool {
	for i := range when.Headers {
		if !Header(x, &when.Headers[i]) {
			return false
		}
	}
	for i := range when.Query {
		if !Query(x, &when.Query[i]) {
			return false
		}
	}
	for i := range when.Cookies {
		if !Cookie(x, &when.Cookies[i]) {
			return false
		}
	}
	return true
}

// Cookie reports whether a condition for a cookie holds.
func Cookie(x *stage.Exchange, c *config.Condition) bool {
	found := proxy.FindCookie(x.Header, func(name, value string) bool {
		return name == c.Name && (c.Test != config.HasValue || value == c.Value)
	})
	return found != (c.Test == config.IsAbsent)
}

// Header reports whether a condition for a header field holds.
func Header(x *stage.Exchange, c *config.Condition) bool {
	for i := range x.Header {
		f := &x.Header[i]
		if len(f.Name) == len(c.Name) && httpsyntax.EqualFold(f.Name, c.Name) &&
			(c.Test != config.HasValue || f.Value == c.Value) {
			return c.Test != config.IsAbsent
		}
	}
	return c.Test == config.IsAbsent
}

// Query reports whether a condition for a parameter of the query holds.
func Query(x *stage.Exchange, c *config.Condition) bool {
	for _, p := range x.Parameters() {
		if p.Name == c.Name && (c.Test != config.HasValue || p.Value == c.Value) {
			return c.Test != config.IsAbsent
		}
	}
	return c.Test == config.IsAbsent
}
