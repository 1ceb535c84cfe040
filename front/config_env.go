package front

import "strings"

// expansion replaces the environment variables of one scalar. It runs on what
// YAML made of the file, so a variable's value is never read as YAML.
type expansion struct {
	lookup func(string) (string, bool)
	out    strings.Builder
	wrong  []misplaced
}

// misplaced is a refusal and the offset in the text that it is about.
type misplaced struct {
	offset int
	refusal
}

// expand returns text with ${NAME}, ${NAME:-default} and $$ replaced, and
// everything that was wrong with it. Any other dollar stays: regular
// expressions end in one.
func expand(text string, lookup func(string) (string, bool)) (string, []misplaced) {
	e := expansion{lookup: lookup}
	e.text(text)
	return e.out.String(), e.wrong
}

func (e *expansion) text(s string) {
	for rest := s; rest != ""; {
		i := strings.IndexByte(rest, '$')
		if i < 0 {
			e.out.WriteString(rest)
			return
		}
		e.out.WriteString(rest[:i])
		rest = rest[i:]
		offset := len(s) - len(rest)
		switch {
		case strings.HasPrefix(rest, "$$"):
			e.out.WriteByte('$')
			rest = rest[2:]
		case strings.HasPrefix(rest, "${"):
			end := closingBrace(rest)
			if end < 0 {
				e.refuse(offset, "write $$ for a dollar", `"${" without its "}"`)
				return
			}
			e.variable(offset, rest[2:end])
			rest = rest[end+1:]
		default:
			e.out.WriteByte('$')
			rest = rest[1:]
		}
	}
}

// closingBrace returns the index of the brace that closes the first one in s,
// or -1. Braces nest, so that a default may be a regular expression.
func closingBrace(s string) int {
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// variable writes the value of what stood between ${ and }.
func (e *expansion) variable(offset int, inside string) {
	name, fallback, hasFallback := strings.Cut(inside, ":-")
	if !isEnvName(name) {
		e.refuse(offset, "write ${NAME} or ${NAME:-default}, and $$ for a dollar", "%s names no environment variable", quote("${"+inside+"}"))
		return
	}
	value, ok := e.lookup(name)
	switch {
	case value != "" || ok && !hasFallback:
		e.out.WriteString(value)
	case !hasFallback:
		e.refuse(offset, "set it, or give a default: ${"+name+":-value}", "the environment variable %s is not set", name)
	case strings.Contains(fallback, "${"):
		e.refuse(offset, "give a plain default", "the default of %s holds a variable itself", name)
	default:
		e.out.WriteString(strings.ReplaceAll(fallback, "$$", "$"))
	}
}

func (e *expansion) refuse(offset int, hint, format string, args ...any) {
	e.wrong = append(e.wrong, misplaced{offset, *refuse(hint, format, args...)})
}

func isEnvName(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}
