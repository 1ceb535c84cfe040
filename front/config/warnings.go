package config

import (
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/weirhq/weir/internal/yamlfile"
)

// warnOfUnused warns of constraints and upstreams that no route has.
func (r *reader) warnOfUnused() {
	for name := range r.config.Constraints {
		if !slices.ContainsFunc(r.routes, func(d *routeDraft) bool { return strings.Contains(d.Match, ":"+name+"}") }) {
			r.Warnf(r.Positions["constraints."+name][0], "write {x:"+name+"} in a match, or remove it",
				"no route has the constraint %s", yamlfile.Quote(name))
		}
	}
	for name, at := range r.upstreams {
		uses := func(s yamlfile.Scalar) bool { return s.Text == name }
		if !slices.ContainsFunc(r.routes, func(d *routeDraft) bool { return uses(d.to) || slices.ContainsFunc(d.others, uses) }) {
			r.Warnf(at, "remove it, or forward requests to it", "no route has the upstream %s", yamlfile.Quote(name))
		}
	}
}

// asSearch returns the constraint that finds an expression in a part of a segment, as other programs do, or "" if expr
// itself always matches from the start to the end, or has no anchor: then its author does not expect a search. "."
// matches every byte of a segment: paths with line breaks are refused.
func asSearch(expr string) string {
	re, err := syntax.Parse(expr, syntax.Perl)
	begin := func(op syntax.Op) bool { return op == syntax.OpBeginText || op == syntax.OpBeginLine }
	end := func(op syntax.Op) bool { return op == syntax.OpEndText || op == syntax.OpEndLine }
	if err != nil || !hasAnchor(re, begin) && !hasAnchor(re, end) {
		return ""
	}
	search := "(?:" + expr + ")"
	if !isAnchored(re, begin) {
		search = ".*" + search
	}
	if !isAnchored(re, end) {
		search += ".*"
	}
	if len(search) == len("(?:)")+len(expr) {
		return ""
	}
	return search
}

// hasAnchor reports whether re contains an anchor.
func hasAnchor(re *syntax.Regexp, anchor func(syntax.Op) bool) bool {
	return anchor(re.Op) || slices.ContainsFunc(re.Sub, func(sub *syntax.Regexp) bool { return hasAnchor(sub, anchor) })
}

// isAnchored reports whether each match of re contains an anchor.
func isAnchored(re *syntax.Regexp, anchor func(syntax.Op) bool) bool {
	open := func(sub *syntax.Regexp) bool { return !isAnchored(sub, anchor) }
	switch {
	case re.Op == syntax.OpAlternate:
		return !slices.ContainsFunc(re.Sub, open)
	case re.Op == syntax.OpStar, re.Op == syntax.OpQuest, re.Op == syntax.OpRepeat && re.Min == 0:
		return false
	}
	return anchor(re.Op) || slices.ContainsFunc(re.Sub, func(sub *syntax.Regexp) bool { return !open(sub) })
}
