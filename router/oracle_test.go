package router_test

import (
	"net/url"
	"slices"
	"strings"

	"github.com/weirhq/weir/router"
)

// The oracle is the documentation's precedence written down as plainly as
// possible: try every pattern, keep those that match, take the smallest. It
// shares no code with the tree and reads valid patterns only.

// An oraclePattern is a pattern split at its slashes.
type oraclePattern struct {
	text     string
	methods  []string
	host     string
	segments []string
}

// unescaped undoes the escapes of a segment; a bad one stays as it is.
func unescaped(segment string) string {
	if u, err := url.PathUnescape(segment); err == nil {
		return u
	}
	return segment
}

func newOraclePattern(text string) oraclePattern {
	p := oraclePattern{text: text}
	if methods, others, ok := strings.Cut(text, " "); ok {
		p.methods, text = strings.Split(methods, ","), others
	}
	host, path, _ := strings.Cut(text, "/")
	p.host, p.segments = host, strings.Split(path, "/")
	return p
}

// A oracleMatch is one way in which a pattern matches a request.
type oracleMatch struct {
	pattern oraclePattern
	noHost  int      // 0: the pattern has a host, 1: it has none
	rank    []string // for each segment of the request how it was matched
	method  int      // 0: named, 1: HEAD by GET, 2: pattern without methods, -1: not taken
	values  []string
}

// compare is negative when a takes precedence over b.
func (a *oracleMatch) compare(b *oracleMatch) int {
	if a.noHost != b.noHost {
		return a.noHost - b.noHost
	}
	if n := slices.Compare(a.rank, b.rank); n != 0 {
		return n
	}
	return a.method - b.method
}

// unordered reports whether nothing but the names of constraints orders two
// matches of the same request.
func (a *oracleMatch) unordered(b *oracleMatch) bool {
	if a.noHost != b.noHost {
		return false
	}
	for i := range a.rank {
		if a.rank[i] != b.rank[i] {
			return a.rank[i][0] == '2' && b.rank[i][0] == '2'
		}
	}
	return a.method == b.method
}

// match returns the best way in which the pattern matches, whether or not it
// takes the method.
func (p oraclePattern) match(method, host, path string) (oracleMatch, bool) {
	if p.host != "" && p.host != host {
		return oracleMatch{}, false
	}
	var tokens []string
	for token := range strings.SplitSeq(path[1:], "/") {
		tokens = append(tokens, unescaped(token))
	}
	m := oracleMatch{pattern: p, method: p.methodRank(method)}
	if p.host == "" {
		m.noHost = 1
	}
	var ok bool
	m.rank, m.values, ok = oracleAssign(p.segments, tokens)
	return m, ok
}

func (p oraclePattern) methodRank(method string) int {
	switch {
	case slices.Contains(p.methods, method):
		return 0
	case method == "HEAD" && slices.Contains(p.methods, "GET"):
		return 1
	case p.methods == nil:
		return 2
	}
	return -1
}

// oracleAssign tries every way of giving the tokens to the segments and
// returns the one of the smallest rank.
func oracleAssign(segments, tokens []string) (rank, values []string, ok bool) {
	if len(segments) == 0 || len(tokens) == 0 {
		return nil, nil, len(segments) == 0 && len(tokens) == 0
	}
	s, last := segments[0], len(segments) == 1
	name, rule, _ := strings.Cut(strings.Trim(s, "{}"), ":")
	take := func(n int, r string, captured ...string) {
		restRank, restValues, fits := oracleAssign(segments[1:], tokens[n:])
		all := append(slices.Repeat([]string{r}, n), restRank...)
		if fits && (!ok || slices.Compare(all, rank) < 0) {
			rank, values, ok = all, append(captured, restValues...), true
		}
	}
	switch {
	case s == "{$}":
		if tokens[0] == "" && len(tokens) == 1 {
			take(1, "1 literal")
		}
	case s == "":
		take(len(tokens), "4 wildcard")
	case s[0] != '{':
		if unescaped(s) == tokens[0] {
			take(1, "1 literal")
		}
	case strings.HasSuffix(name, "...") && last:
		take(len(tokens), "4 wildcard", strings.Join(tokens, "/"))
	case strings.HasSuffix(name, "..."):
		for n := 1; n < len(tokens); n++ {
			take(n, "4 wildcard", strings.Join(tokens[:n], "/"))
		}
	case rule != "":
		if tokens[0] != "" && oracleConstraints[rule].Match(tokens[0]) {
			take(1, "2 "+rule, tokens[0])
		}
	case tokens[0] != "":
		take(1, "3 free", tokens[0])
	}
	return rank, values, ok
}

var oracleConstraints = router.Constraints{
	"int": router.Int, "hex": router.Hex, "slug": router.Slug, "date": router.Date,
}

// oracleLookup returns all matches that take the method, best first, and the
// Allow header when there are none.
func oracleLookup(patterns []oraclePattern, method, host, path string) (taken []oracleMatch, allow string) {
	var allowed []string
	for _, p := range patterns {
		m, ok := p.match(method, host, path)
		if ok && m.method >= 0 {
			taken = append(taken, m)
		}
		if ok {
			allowed = append(allowed, p.methods...)
		}
	}
	slices.SortFunc(taken, func(a, b oracleMatch) int { return a.compare(&b) })
	if len(taken) > 0 {
		return taken, ""
	}
	if slices.Contains(allowed, "GET") {
		allowed = append(allowed, "HEAD")
	}
	slices.Sort(allowed)
	return nil, strings.Join(slices.Compact(allowed), ", ")
}
