package router_test

import (
	"cmp"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/weirhq/weir/router"
)

// The oracle is a plain implementation of the documented precedence: it tries every
// pattern, keeps those that match, and takes the smallest. It shares no code with the
// tree and accepts only valid patterns.

// An oraclePattern is a pattern split at its slashes.
type oraclePattern struct {
	text     string
	methods  []string
	host     string
	segments []string
}

// unescaped unescapes a segment; one with an invalid escape stays unchanged.
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

// An oracleRank describes how a pattern takes a segment of a request.
type oracleRank struct {
	class         int // 1: literal, 2: parameter, 3: wildcard
	before, after int // of a parameter: number of bytes around it
	free          int // of a parameter: 0 with a constraint, 1 without
	rule          string
}

// compare is negative if a takes precedence over b.
func (a oracleRank) compare(b oracleRank) int {
	return cmp.Or(a.compareWithoutRule(b), cmp.Compare(a.rule, b.rule))
}

func (a oracleRank) compareWithoutRule(b oracleRank) int {
	return cmp.Or(a.class-b.class, b.before-a.before, b.after-a.after, a.free-b.free)
}

// An oracleMatch is one way in which a pattern matches a request.
type oracleMatch struct {
	pattern oraclePattern
	host    oracleHostRank
	rank    []oracleRank // of each segment of the request
	method  int          // 0: named, 1: HEAD by GET, 2: pattern without methods, -1: not taken
	values  []string
}

// compare is negative if a takes precedence over b.
func (a *oracleMatch) compare(b *oracleMatch) int {
	return cmp.Or(a.host.compare(b.host), slices.CompareFunc(a.rank, b.rank, oracleRank.compare), a.method-b.method)
}

// unordered reports whether only the names of constraints order two matches of the same
// request.
func (a *oracleMatch) unordered(b *oracleMatch) bool {
	if a.host != b.host {
		return a.host.compareWithoutRule(b.host) == 0
	}
	for i := range a.rank {
		if a.rank[i] != b.rank[i] {
			return a.rank[i].compareWithoutRule(b.rank[i]) == 0
		}
	}
	return a.method == b.method
}

// match returns the best match of the pattern, regardless of the method. The tokens are
// the unescaped segments of the path.
func (p oraclePattern) match(method, host string, tokens []string) (oracleMatch, bool) {
	rank, label, ok := oracleHost(p.host, host)
	if !ok {
		return oracleMatch{}, false
	}
	m := oracleMatch{pattern: p, host: rank, method: p.methodRank(method)}
	m.rank, m.values, ok = oracleAssign(p.segments, tokens)
	m.values = append(label, m.values...)
	return m, ok
}

// An oracleHostRank describes how a pattern takes a host.
type oracleHostRank struct {
	class  int // 1: a name, 2: a wildcard and a name, 3: all hosts
	suffix int // of a wildcard: number of labels after it
	many   int // of a wildcard: 1 if it takes several labels
	free   int // of a wildcard: 0 with a constraint, 1 without
	rule   string
}

// compare is negative if a takes precedence over b.
func (a oracleHostRank) compare(b oracleHostRank) int {
	return cmp.Or(a.compareWithoutRule(b), cmp.Compare(a.rule, b.rule))
}

func (a oracleHostRank) compareWithoutRule(b oracleHostRank) int {
	return cmp.Or(a.class-b.class, b.suffix-a.suffix, a.many-b.many, a.free-b.free)
}

// oracleHost assigns the host of a request, in lower case and without a port, to that of
// a pattern. values has the value of a named wildcard.
func oracleHost(pattern, host string) (r oracleHostRank, values []string, ok bool) {
	wildcard, suffix, _ := strings.Cut(pattern, "}.")
	switch {
	case pattern == "":
		return oracleHostRank{class: 3}, nil, true
	case strings.HasPrefix(pattern, "*."):
		wildcard, suffix = "*", pattern[2:]
	case pattern[0] != '{':
		return oracleHostRank{class: 1}, nil, pattern == host
	}
	_, rule, constrained := strings.Cut(wildcard, ":")
	r = oracleHostRank{class: 2, suffix: strings.Count(suffix, "."), free: 1, rule: rule}
	value, fits := strings.CutSuffix(host, "."+suffix)
	for label := range strings.SplitSeq(value, ".") {
		fits = fits && oracleLabel.MatchString(label)
	}
	if constrained {
		r.free = 0
		fits = fits && oracleConstraints[rule].Match(value)
	}
	if strings.HasSuffix(wildcard, "...") {
		r.many = 1
	} else if strings.Contains(value, ".") {
		return r, nil, false
	}
	if wildcard != "*" {
		values = []string{value}
	}
	return r, values, fits
}

var oracleLabel = regexp.MustCompile(`^[a-z0-9_-]{1,63}$`)

// oracleTokens returns the unescaped segments of an escaped path.
func oracleTokens(path string) []string {
	tokens := strings.Split(path[1:], "/")
	for i := range tokens {
		tokens[i] = unescaped(tokens[i])
	}
	return tokens
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

// oracleAssign tries every assignment of the tokens to the segments and returns the one
// of the smallest rank.
func oracleAssign(segments, tokens []string) (rank []oracleRank, values []string, ok bool) {
	if len(segments) == 0 || len(tokens) == 0 {
		return nil, nil, len(segments) == 0 && len(tokens) == 0
	}
	s, last := segments[0], len(segments) == 1
	take := func(n int, r oracleRank, captured ...string) {
		restRank, restValues, fits := oracleAssign(segments[1:], tokens[n:])
		all := append(slices.Repeat([]oracleRank{r}, n), restRank...)
		if fits && (!ok || slices.CompareFunc(all, rank, oracleRank.compare) < 0) {
			rank, values, ok = all, append(captured, restValues...), true
		}
	}
	literal, wildcard := oracleRank{class: 1}, oracleRank{class: 3}
	switch {
	case s == "{$}":
		if tokens[0] == "" && len(tokens) == 1 {
			take(1, literal)
		}
	case s == "":
		take(len(tokens), wildcard)
	case !strings.Contains(s, "{"):
		if unescaped(s) == tokens[0] {
			take(1, literal)
		}
	case strings.HasSuffix(s, "...}") && last:
		take(len(tokens), wildcard, strings.Join(tokens, "/"))
	case strings.HasSuffix(s, "...}"):
		for n := 1; n < len(tokens); n++ {
			take(n, wildcard, strings.Join(tokens[:n], "/"))
		}
	default:
		if r, value, fits := oracleParameter(s, tokens[0]); fits {
			take(1, r, value)
		}
	}
	return rank, values, ok
}

// oracleParameter assigns a token to a segment with a parameter.
func oracleParameter(s, token string) (r oracleRank, value string, fits bool) {
	before, others, _ := strings.Cut(s, "{")
	inside, after, _ := strings.Cut(others, "}")
	before, after = unescaped(before), unescaped(after)
	_, rule, constrained := strings.Cut(inside, ":")
	r = oracleRank{class: 2, before: len(before), after: len(after), rule: rule}
	if !constrained {
		r.free = 1
	}
	others, starts := strings.CutPrefix(token, before)
	value, ends := strings.CutSuffix(others, after)
	fits = starts && ends && value != "" && (!constrained || oracleConstraints[rule].Match(value))
	return r, value, fits
}

var oracleConstraints = router.Constraints{
	"int": router.Int, "hex": router.Hex, "slug": router.Slug, "date": router.Date,
}

// oracleLookup returns all matches that take the method, best first, and the Allow
// field if there are none.
func oracleLookup(patterns []oraclePattern, method, host, path string) (taken []oracleMatch, allow string) {
	var allowed []string
	tokens := oracleTokens(path)
	for _, p := range patterns {
		m, ok := p.match(method, host, tokens)
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
