package template

import (
	"slices"
	"strings"

	"github.com/weirhq/weir/internal/httpsyntax"
	"github.com/weirhq/weir/router"
)

// A Pattern locates the values of a route's parameters in escaped paths. [router.Params] has
// them unescaped, which is not the text that the client sent. It does not change, so
// goroutines may share it.
type Pattern struct {
	names    []string // of all parameters, from left to right
	inHost   int      // number of names that are in the host
	gaps     []int    // for each parameter of the path, the unescaped length of the text before it
	literals []string // the unescaped segments before the first parameter
	any      bool     // it is not known: any name may be a parameter
}

// AnyPattern stands for the patterns of several routes. A template for it can be checked, but not used.
func AnyPattern() *Pattern { return &Pattern{any: true} }

// ParsePattern parses a pattern that package router has accepted, [METHODS ][HOST]/PATH.
func ParsePattern(text string) *Pattern {
	p := new(Pattern)
	text = text[strings.LastIndexAny(text, " \t")+1:]
	slash := max(strings.IndexByte(text, '/'), 0)
	for host := text[:slash]; ; p.inHost++ {
		_, name, after, found := cutBraces(host)
		if !found {
			break
		}
		p.names, host = append(p.names, parameterName(name)), after
	}
	path := text[slash:]
	literal, _, _ := strings.Cut(path, "{")
	for segment := range strings.SplitSeq(strings.TrimPrefix(literal[:strings.LastIndexByte(literal, '/')+1], "/"), "/") {
		p.literals = append(p.literals, unescape(segment))
	}
	p.literals = p.literals[:len(p.literals)-1] // after the last slash
	if literal == path && !strings.HasSuffix(path, "/") {
		p.literals = append(p.literals, unescape(path[strings.LastIndexByte(path, '/')+1:]))
	}
	for {
		before, name, after, found := cutBraces(path)
		if !found || name == "$" {
			return p
		}
		p.names = append(p.names, parameterName(name))
		p.gaps = append(p.gaps, len(unescape(before)))
		path = after
	}
}

// cutBraces splits s around its first braces.
func cutBraces(s string) (before, inside, after string, found bool) {
	before, rest, found := strings.Cut(s, "{")
	if !found {
		return s, "", "", false
	}
	inside, after, found = strings.Cut(rest, "}")
	return before, inside, after, found
}

// parameterName returns the name in the text between braces: name, name:constraint or name...
func parameterName(inside string) string {
	name, _, _ := strings.Cut(inside, ":")
	return strings.TrimSuffix(name, "...")
}

// unescape returns s with its valid escapes decoded.
func unescape(s string) string {
	if strings.IndexByte(s, '%') < 0 {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if n := unitLen(s[i:]); n == 3 {
			hi, _ := httpsyntax.Hex(s[i+1])
			lo, _ := httpsyntax.Hex(s[i+2])
			b = append(b, hi<<4|lo)
			i += n - 1
			continue
		}
		b = append(b, s[i])
	}
	return string(b)
}

// unitLen returns the length of the escape or the byte at the start of s.
func unitLen(s string) int {
	if s[0] != '%' || len(s) < 3 {
		return 1
	}
	_, ok1 := httpsyntax.Hex(s[1])
	_, ok2 := httpsyntax.Hex(s[2])
	if !ok1 || !ok2 {
		return 1
	}
	return 3
}

// skip returns the length of the first n units of an escaped text.
func skip(s string, n int) (length int) {
	for ; n > 0 && length < len(s); n-- {
		length += unitLen(s[length:])
	}
	return length
}

// Begins reports how many segments of each matching path a literal prefix such as /api takes.
// ok is false unless each path begins with these segments.
func (p *Pattern) Begins(prefix string) (segments int, ok bool) {
	all := strings.Split(strings.TrimPrefix(prefix, "/"), "/")
	for i, segment := range all {
		all[i] = unescape(segment)
	}
	return len(all), p.any || len(all) <= len(p.literals) && slices.Equal(all, p.literals[:len(all)])
}

// escaped returns the value of the i-th parameter as it is in the escaped path of a request.
func (p *Pattern) escaped(path string, params *router.Params, i int) string {
	_, value := params.At(i)
	if i < p.inHost || strings.IndexByte(path, '%') < 0 {
		return value
	}
	at := 0
	for j := range p.gaps[:i-p.inHost] {
		_, before := params.At(p.inHost + j)
		at += skip(path[at:], p.gaps[j]+len(before))
	}
	at += skip(path[at:], p.gaps[i-p.inHost])
	return path[at : at+skip(path[at:], len(value))]
}
