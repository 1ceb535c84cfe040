package router

import (
	"slices"
	"strings"
	"unicode"

	"github.com/weirhq/weir/router/internal/nearest"
)

// A kind is the kind of a segment of a pattern. The first three are ordered from
// specific to general.
type kind uint8

const (
	literal        kind = iota // one segment that equals text
	parameter                  // {name}, possibly with a constraint and text around it: one segment
	middleWildcard             // {name...} before other segments: one or more segments
	finalSlash                 // {$}: the empty segment after a final slash
	rest                       // {name...} or a slash at the end: the rest of the path
)

// A segment is the text between two slashes of a pattern.
type segment struct {
	kind kind
	text string // of a literal: its unescaped text
	name string // of a parameter or wildcard; "" for a trailing slash
	form        // of a parameter
}

// multi reports whether the segment can match several segments of a request.
func (s *segment) multi() bool { return s.kind == middleWildcard || s.kind == rest }

// A pattern is a parsed pattern.
type pattern struct {
	text      string
	entry     int       // index of its entry
	methods   []string  // empty: all methods
	host      string    // in canonical form, without the wildcard; "": all hosts
	label     *segment  // the wildcard at the start of the host, nil if there is none; its name is an example
	labelName string    // name of the wildcard, "" for *
	names     []string  // names of the parameters in the path, from left to right
	segments  []segment // nil once the pattern is in a tree, which has the same information
}

// parsePattern parses text. The caller sets Entry and Pattern of the mistake.
func parsePattern(text string, constraints Constraints) (*pattern, *Mistake) {
	p := &pattern{text: text}
	if m := p.parse(constraints, new(slab[string])); m != nil {
		return nil, m
	}
	return p, nil
}

// parse parses p's text. It appends to p.segments.
func (p *pattern) parse(constraints Constraints, texts *slab[string]) *Mistake {
	hostAt, m := p.parseMethods()
	if m != nil {
		return m
	}
	pathAt, m := p.parseHost(hostAt, constraints)
	if m != nil {
		return m
	}
	if n := strings.Count(p.text[pathAt:], "{"); n > 0 {
		p.names = texts.slice(n)[:0]
	}
	return p.parsePath(pathAt, constraints)
}

// parseMethods parses the list of methods and returns the offset of the host.
func (p *pattern) parseMethods() (int, *Mistake) {
	list, after, found := cutBlank(p.text)
	if !found {
		return 0, nil
	}
	switch {
	case list == "":
		return 0, syntaxMistake(0, "the pattern begins with a blank").hint("leave it out")
	case strings.LastIndexByte(list, '{') > strings.LastIndexByte(list, '}'):
		return 0, syntaxMistake(len(list), "a blank between braces").hint("leave it out")
	case strings.IndexByte(list, '/') >= 0:
		return 0, syntaxMistake(len(list), "a blank in the path").hint("write %%20")
	}
	if i := slices.Index(knownMethods, list); i >= 0 { // most lists are one known method
		p.methods = knownMethods[i : i+1 : i+1]
		return after, nil
	}
	at := 0
	for _, method := range strings.Split(list, ",") {
		if m := p.addMethod(method, at); m != nil {
			return 0, m
		}
		at += len(method) + 1
	}
	return after, nil
}

func (p *pattern) addMethod(method string, at int) *Mistake {
	switch upper := strings.ToUpper(method); {
	case method == "":
		return syntaxMistake(at, "a method is missing").hint("write a list of methods without blanks: GET,HEAD /path")
	case !isToken(method):
		return syntaxMistake(at, "%q is not a method", method)
	case method != upper && slices.Contains(knownMethods, upper):
		return syntaxMistake(at, "no request has the method %q", method).hint("methods are case-sensitive: write %s",
			upper)
	case slices.Contains(p.methods, method):
		return syntaxMistake(at, "duplicate method %s", method)
	}
	p.methods = append(p.methods, method)
	return nil
}

// cutBlank returns the text before the first blanks of s and the offset after them.
func cutBlank(s string) (before string, after int, found bool) {
	i := strings.IndexAny(s, " \t")
	if i < 0 {
		return "", 0, false
	}
	return s[:i], len(s) - len(strings.TrimLeft(s[i:], " \t")), true
}

// parseHost parses the host and returns the offset of the path.
func (p *pattern) parseHost(at int, constraints Constraints) (int, *Mistake) {
	n := strings.IndexByte(p.text[at:], '/')
	if n < 0 {
		return 0, syntaxMistake(at, "there is no path").hint("a path begins with a slash")
	}
	host := p.text[at : at+n]
	switch i := strings.IndexAny(host, "{*,"); {
	case i == 0 && host[0] != ',':
		return at + n, p.parseWildcard(host, at, constraints)
	case i >= 0 && host[i] == ',':
		return 0, syntaxMistake(at+i, "%q is not allowed in a host",
			host[i:i+1]).hint("write a blank after the methods: GET,HEAD /path")
	case i >= 0 && host[i] == '{' && strings.IndexByte(host, '.') < 0:
		return 0, syntaxMistake(at+i, "a host has no parameters, except in place of its first label").
			hint("a path begins with a slash")
	case i >= 0:
		return 0, syntaxMistake(at+i, onlyFirstLabel).hint("write *.example.com or {name}.example.com")
	case strings.HasPrefix(host, "."):
		return 0, syntaxMistake(at, "a host begins with a name").hint("write *%s for its subdomains", host)
	case strings.HasSuffix(host, ":") && strings.HasPrefix(p.text[at+n:], "//"):
		return 0, syntaxMistake(at, "a scheme before the host").hint("leave %s// out", host)
	}
	canonical, m := canonicalPatternHost("", host, at)
	p.host = canonical
	return at + n, m
}

// parsePath parses the path, which begins at the given offset.
func (p *pattern) parsePath(at int, constraints Constraints) *Mistake {
	for at < len(p.text) {
		at++ // the slash
		end := len(p.text)
		if n := strings.IndexByte(p.text[at:], '/'); n >= 0 {
			end = at + n
		}
		p.segments = append(p.segments, segment{})
		s := &p.segments[len(p.segments)-1]
		if m := s.parse(p.text[at:end], at, end == len(p.text), constraints); m != nil {
			return m
		}
		if m := p.checkLast(at); m != nil {
			return m
		}
		at = end
	}
	return nil
}

// checkLast checks the last segment so far, which begins at the given offset, against
// the previous ones, and records its name.
func (p *pattern) checkLast(at int) *Mistake {
	n := len(p.segments) - 1
	s := &p.segments[n]
	switch {
	case s.multi() && n > 0 && p.segments[n-1].kind == middleWildcard:
		return syntaxMistake(at, "a wildcard directly after another one: the end of the first would be ambiguous")
	case s.name == "":
		return nil
	case slices.Contains(p.names, s.name), s.name == p.labelName:
		return syntaxMistake(at, "duplicate name %q", s.name)
	}
	p.names = append(p.names, s.name)
	return nil
}

// parse parses one segment, which begins at the given offset, into the zero segment s.
func (s *segment) parse(text string, at int, last bool, constraints Constraints) *Mistake {
	if text == "" && last {
		s.kind = rest
		return nil
	}
	if brace := strings.IndexByte(text, '{'); brace >= 0 {
		return s.parseBraces(text, brace, at, last, constraints)
	}
	s.kind, s.text = literal, unescape(text)
	if s.text == "" || s.text == "." || s.text == ".." {
		return syntaxMistake(at, "the segment %q never reaches a route: paths are cleaned first", text)
	}
	return nil
}

// parseBraces parses a segment with a brace at the given index and possibly text around
// the braces.
func (s *segment) parseBraces(text string, brace, at int, last bool, constraints Constraints) *Mistake {
	n := strings.IndexByte(text[brace:], '}')
	if n < 0 {
		return syntaxMistake(at+brace, "a parameter ends with }")
	}
	before, inside, after := text[:brace], text[brace+1:brace+n], text[brace+n+1:]
	if m := checkAround(before, at); m != nil {
		return m
	}
	if m := s.parseInside(inside, at+brace+1, last, constraints); m != nil {
		return m
	}
	if m := checkAround(after, at+brace+n+1); m != nil {
		return m
	}
	if s.kind != parameter && before+after != "" {
		return syntaxMistake(at, "{%s} has text around it", inside).hint("put a slash between")
	}
	s.prefix, s.suffix = unescape(before), unescape(after)
	return nil
}

// checkAround checks the text before or after a parameter. It begins at the given
// offset.
func checkAround(text string, at int) *Mistake {
	switch i := strings.IndexAny(text, "{}"); {
	case i < 0:
		return nil
	case text[i] == '{':
		return syntaxMistake(at+i, "two parameters in one segment").
			hint("write one parameter for the whole segment, with a constraint made by Regexp")
	default:
		return syntaxMistake(at+i, "a } without {").hint("write %%7D for the character")
	}
}

// parseInside parses the text between braces: name, name:constraint, name... or $.
func (s *segment) parseInside(text string, at int, last bool, constraints Constraints) *Mistake {
	switch {
	case text == "$" && !last:
		return syntaxMistake(at-1, "{$} is the end of a path")
	case text == "$":
		s.kind = finalSlash
		return nil
	}
	name, constraint, hasConstraint := strings.Cut(text, ":")
	name, multi := strings.CutSuffix(name, "...")
	constraintAt := at + len(text) - len(constraint)
	switch {
	case name == "":
		return syntaxMistake(at, "a parameter has no name")
	case isIdentifier(strings.Trim(name, "*.…")) && !isIdentifier(name):
		return syntaxMistake(at, "%q is not a name", name).hint("write {%s...} for several segments",
			strings.Trim(name, "*.…"))
	case !isIdentifier(name):
		return syntaxMistake(at, "%q is not a name", name).hint("a name has letters, digits and _, and no digit first")
	case hasConstraint && (multi || strings.HasSuffix(constraint, "...")):
		return syntaxMistake(constraintAt, "a wildcard of several segments takes no constraint")
	case hasConstraint && constraint == "":
		return syntaxMistake(constraintAt, "a constraint has no name").hint("write {%s} for any value", name)
	}
	s.kind, s.name, s.constraintName = parameter, name, constraint
	switch {
	case multi && last:
		s.kind = rest
	case multi:
		s.kind = middleWildcard
	case hasConstraint:
		if s.constraint, hasConstraint = constraints.find(constraint); !hasConstraint {
			return s.unknownConstraint(constraintAt, constraints)
		}
	}
	return nil
}

// unknownConstraint returns the mistake for an unknown constraint at the given offset.
// It recognises the expressions of other routers.
func (s *segment) unknownConstraint(at int, constraints Constraints) *Mistake {
	names := constraints.names()
	m := syntaxMistake(at, "there is no constraint %q", s.constraintName)
	near := nearest.Word(s.constraintName, names)
	switch {
	case s.constraintName == "*" || s.constraintName == ".*" || s.constraintName == ".+":
		return m.hint("write {%s...} for several segments", s.name)
	case strings.ContainsAny(s.constraintName, `[](){}\*+?^$|.`):
		return m.hint("make the expression a constraint with Regexp and use its name: {%s:name}", s.name)
	case near != "":
		return m.hint("did you mean %s?", near)
	}
	return m.hint("there are %s", strings.Join(names, ", "))
}

// isIdentifier reports whether s is a Go identifier, as net/http requires of a
// parameter's name.
func isIdentifier(s string) bool {
	for i, c := range s {
		if c != '_' && !unicode.IsLetter(c) && (i == 0 || !unicode.IsDigit(c)) {
			return false
		}
	}
	return s != ""
}

// isToken reports whether s is a token of RFC 9110, such as a method.
func isToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		alnum := '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
		if !alnum && strings.IndexByte("!#$%&'*+-.^_`|~", c) < 0 {
			return false
		}
	}
	return s != ""
}
