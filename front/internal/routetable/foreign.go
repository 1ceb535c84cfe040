package routetable

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"github.com/weirhq/weir/front/internal/redirect"
	"github.com/weirhq/weir/internal/yamlfile"
	"github.com/weirhq/weir/router"
)

// A foreignPattern is a pattern with the syntax of another router. Weir, like
// net/http, treats such syntax as text, so that the route would match no request
// that clients send.
type foreignPattern struct {
	text    string // the pattern, without trailing blanks
	meant   string // the part that was read, in Weir's syntax
	offset  int    // of the first foreign syntax, in bytes
	problem string // of that syntax; "" if there is none
	escape  string // the escape of its character, or ""
}

// RefuseForeign returns a refusal of a pattern with the syntax of another router,
// or nil if it has none.
func RefuseForeign(pattern string, constraints router.Constraints) *yamlfile.Refusal {
	f := readForeign(pattern)
	if f.problem == "" {
		return nil
	}
	return yamlfile.Refuse(f.hint(constraints), "pattern %s: %s", yamlfile.Quote(pattern), f.problem).At(f.offset)
}

// Refuse returns a refusal of a pattern that is invalid by itself, or nil.
func Refuse(pattern string, constraints router.Constraints) *yamlfile.Refusal {
	if refused := RefuseForeign(pattern, constraints); refused != nil {
		return refused
	}
	_, err := router.NewTable(constraints, []router.Entry[bool]{{Pattern: pattern}})
	if m := (*router.Mistake)(nil); errors.As(err, &m) {
		return yamlfile.Refuse(m.Hint, "pattern %s: %s", yamlfile.Quote(pattern), m.Problem).At(m.Offset)
	}
	return nil
}

var (
	onlyHost = regexp.MustCompile(`^(\*\.)?[\w-]+(\.[\w-]+)+$`)
	nextKey  = regexp.MustCompile(`\s(\w+): `)
)

// hintFor returns the hint for a pattern that is only a host, or that has the next key of the route in it. Otherwise it
// returns that of the router.
func hintFor(pattern, hint string) string {
	if key := nextKey.FindStringSubmatch(pattern); key != nil {
		return "write a comma before " + key[1]
	}
	if onlyHost.MatchString(pattern) {
		return hint + ": " + yamlfile.Quote(pattern+"/{path...}") + " has all paths of a host"
	}
	return hint
}

func readForeign(pattern string) *foreignPattern {
	f := &foreignPattern{text: strings.TrimRight(pattern, " ")}
	if f.readRule() {
		return f
	}
	at, prefix := f.readModifiers()
	if at == 0 {
		at = f.readMethods()
	}
	if slash := strings.IndexByte(f.text[at:], '/'); slash >= 0 {
		f.meant += f.text[at : at+slash]
		f.readPath(at + slash)
	}
	if prefix && strings.HasSuffix(f.meant, "/") {
		f.meant += f.parameter("path", true)
	}
	if f.text != pattern {
		f.note(len(f.text), "%20", "it ends in a blank")
	}
	return f
}

// note records the first problem.
func (f *foreignPattern) note(offset int, escape, format string, args ...any) {
	if f.problem == "" {
		f.offset, f.escape, f.problem = offset, escape, fmt.Sprintf(format, args...)
	}
}

// hint suggests the pattern in Weir's syntax, if it is valid, and the escape.
func (f *foreignPattern) hint(constraints router.Constraints) string {
	var ways []string
	_, err := router.NewTable(constraints, []router.Entry[bool]{{Pattern: f.meant}})
	if err == nil && readForeign(f.meant).problem == "" {
		ways = append(ways, yamlfile.Quote(f.meant))
	}
	if f.escape != "" {
		ways = append(ways, f.escape+" for the character itself")
	}
	if ways == nil && strings.HasPrefix(strings.TrimPrefix(f.text, "location "), "~") {
		return `write the expression in constraints, as in constraints: {php: '.*\.php'}, and match: "/{path...}/{file:php}"`
	}
	if ways == nil {
		return "see the patterns in docs/configuration/routes.md"
	}
	return "write " + strings.Join(ways, ", or ")
}

// readRule reads a rule of Traefik, and reports whether the pattern is one.
func (f *foreignPattern) readRule() bool {
	if !strings.Contains(f.text, "(`") {
		return false
	}
	argument := func(matcher string) string {
		_, rest, _ := strings.Cut(f.text, matcher+"(`")
		value, _, _ := strings.Cut(rest, "`")
		return value
	}
	f.note(0, "", "a pattern is a host and a path, not a rule")
	f.meant = argument("Host") + cmp.Or(argument("Path"), strings.TrimSuffix(argument("PathPrefix"), "/")+"/{path...}")
	return true
}

// modifiers are words before a path in other programs, and whether the path is then a prefix.
var modifiers = map[string]bool{"location": true, "=": false, "~": false, "~*": false, "^~": true, "path": false,
	"path_beg": true, "path_reg": false}

// readModifiers reads the words before a path, and returns the offset of the path, and whether that is a prefix.
func (f *foreignPattern) readModifiers() (at int, prefix bool) {
	for {
		word, rest, found := strings.Cut(f.text[at:], " ")
		isPrefix, known := modifiers[word]
		if !found || !known {
			return at, prefix
		}
		f.note(at, "", "%s is not a method, and a pattern has no modifiers", yamlfile.Quote(word))
		at, prefix = len(f.text)-len(strings.TrimLeft(rest, " ")), isPrefix
	}
}

// readMethods reads the methods and returns the offset of the host.
func (f *foreignPattern) readMethods() int {
	methods, rest, found := strings.Cut(f.text, " ")
	if !found || strings.Contains(methods, "/") {
		return 0
	}
	if methods == "*" {
		f.note(0, "", `"*" is not a method, and a pattern without methods takes all of them`)
		methods = ""
	} else {
		if bar := strings.IndexByte(methods, '|'); bar >= 0 {
			f.note(bar, "", `a comma separates methods, not "|"`)
		}
		methods = strings.ReplaceAll(methods, "|", ",") + " "
	}
	f.meant += methods
	return len(f.text) - len(strings.TrimLeft(rest, " \t"))
}

// readPath reads the path, which begins at the given offset.
func (f *foreignPattern) readPath(at int) {
	for at < len(f.text) && f.text[at] == '/' {
		at++
		end := at + outsideBraces(f.text[at:], "/?#")
		f.meant += "/"
		f.readSegment(f.text[at:end], at, end == len(f.text) || f.text[end] != '/')
		at = end
	}
	if at < len(f.text) {
		f.note(at, fmt.Sprintf("%%%X", f.text[at]), "a pattern has no query and no fragment")
	}
}

// readSegment reads the segment at the given offset.
func (f *foreignPattern) readSegment(s string, at int, last bool) {
	star, other := outsideBraces(s, "*"), outsideBraces(s, `<>[]^\|"`)
	switch brace := strings.IndexAny(s, "{}"); {
	case brace >= 0 && s[brace] == '}':
		f.note(at+brace, "%7D", `a "}" has no "{" before it`)
		f.meant += "{" + s
	case redirect.BeginsName(strings.TrimPrefix(s, ":")) && s[0] == ':':
		f.note(at, "%3A", "%s is text in Weir, not a parameter", yamlfile.Quote(s))
		f.meant += f.colon(s[1:])
	case star < len(s):
		f.note(at+star, "%2A", `"*" is text in Weir, not a wildcard`)
		f.meant += f.wildcard(s, last)
	case other < len(s): // no URL has these characters without an escape
		f.note(at+other, fmt.Sprintf("%%%02X", s[other]), "%s is text in Weir, not an expression", yamlfile.Quote(s))
		name := strings.Trim(s, "<>[]")
		if !redirect.BeginsName(name) || strings.TrimLeftFunc(name, inName) != "" {
			name = "name"
		}
		f.meant += f.parameter(name, false)
	default:
		f.meant += s
	}
}

// colon returns the segment that other routers write as ":" and s. It omits a
// regular expression, which Weir would have in constraints.
func (f *foreignPattern) colon(s string) string {
	rest := strings.TrimLeftFunc(s, inName)
	name := strings.TrimSuffix(s, rest)
	if strings.ContainsAny(rest, "(*+") {
		return f.parameter(name, strings.ContainsAny(rest[:1], "*+"))
	}
	return f.parameter(name, false) + rest
}

// wildcard returns the segment that other routers write as s, which contains a "*".
func (f *foreignPattern) wildcard(s string, last bool) string {
	switch {
	case strings.Trim(s, "*.()") == "" && last:
		return f.parameter("path", true)
	case strings.Trim(s, "*.()") == "":
		return f.parameter("name", s != "*")
	case s[0] == '*' && redirect.BeginsName(s[1:]) && strings.TrimLeftFunc(s[1:], inName) == "":
		return f.parameter(s[1:], last)
	default:
		return strings.Replace(s, "*", f.parameter("name", false), 1)
	}
}

// parameter returns a parameter, or a wildcard of several segments if many is
// true. It adds a number to a name that the pattern already uses.
func (f *foreignPattern) parameter(name string, many bool) string {
	unused := name
	for n := 2; strings.Contains(f.text+f.meant, "{"+unused); n++ {
		unused = fmt.Sprint(name, n)
	}
	if many {
		unused += "..."
	}
	return "{" + unused + "}"
}

// inName reports whether c may be part of a parameter's name.
func inName(c rune) bool { return c == '_' || unicode.IsLetter(c) || unicode.IsDigit(c) }

// outsideBraces returns the index of the first of chars in s that is outside
// braces, or the length of s if there is none.
func outsideBraces(s, chars string) int {
	depth := 0
	for i := range len(s) {
		switch {
		case s[i] == '{':
			depth++
		case s[i] == '}':
			depth = max(depth-1, 0)
		case depth == 0 && strings.IndexByte(chars, s[i]) >= 0:
			return i
		}
	}
	return len(s)
}
