package config

import (
	"net"
	"net/url"
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

// warnOfUninterested warns of rules for interesting requests that no request has.
func (r *reader) warnOfUninterested() {
	is := func(events string) bool { return events == EventsInteresting }
	if is(r.config.Log.Events) || slices.ContainsFunc(r.routes, func(d *routeDraft) bool { return is(d.Events) }) {
		return
	}
	for _, path := range []string{"log.interesting.slower_than", "log.interesting.share"} {
		if r.has(path) {
			r.Warnf(r.Positions[path][0], "write log: {events: interesting}", "%s has no effect, because all requests write the same events",
				strings.TrimPrefix(path, "log."))
		}
	}
}

// warnOfLoops warns of servers that are listeners of this front door: a request would come back until the connections are
// used up.
func (r *reader) warnOfLoops() {
	for _, u := range r.config.Upstreams {
		for _, s := range u.Servers {
			at, err := url.Parse(s.URL)
			if err != nil || !isLoopback(at.Hostname()) {
				continue
			}
			for _, listener := range r.config.Listen {
				host, port, _ := net.SplitHostPort(listener)
				if port == at.Port() && (slices.Contains([]string{"", "0.0.0.0", "::", at.Hostname()}, host) ||
					at.Hostname() == "localhost" && isLoopback(host)) {
					r.Warnf(r.upstreams[u.Name], "write the address of the service", "the server %s is the listener %s: requests come back",
						yamlfile.Quote(s.URL), yamlfile.Quote(listener))
				}
			}
		}
	}
}

func isLoopback(host string) bool { return host == "localhost" || net.ParseIP(host).IsLoopback() }

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
