// Package chart has what pages with charts share: the axes, where values stand
// on them and which round numbers are written beside them, and the look.
package chart

import _ "embed"

//go:embed base.css
var css string

// CSS is the look of a page, in the dark and in the light, on paper and on a
// phone: its text, figures, and tables.
func CSS() string { return css }
