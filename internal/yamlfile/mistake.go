package yamlfile

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

// A Mistake is one mistake in a file. What and Hint are one line each and
// contain no control characters.
type Mistake struct {
	File string
	Line int    // 1-based
	Col  int    // 1-based, in characters; of the wrong key or value
	What string // the problem, with the wrong value
	Hint string // how to correct it, or ""
}

func (m Mistake) Error() string {
	if m.Hint == "" {
		return fmt.Sprintf("%s:%d:%d: %s", m.File, m.Line, m.Col, m.What)
	}
	return fmt.Sprintf("%s:%d:%d: %s; %s", m.File, m.Line, m.Col, m.What, m.Hint)
}

// A Refusal is the reason why a value is invalid, and how to correct it.
type Refusal struct {
	What, Hint string
	Offset     int // in bytes of the value's text; 0 is all of it
}

// Refuse returns a refusal with a formatted What.
func Refuse(hint, format string, args ...any) *Refusal {
	return &Refusal{What: fmt.Sprintf(format, args...), Hint: hint}
}

// At sets the offset and returns the refusal.
func (r *Refusal) At(offset int) *Refusal {
	r.Offset = offset
	return r
}

// caddyVariable is an environment variable in a Caddyfile.
var caddyVariable = regexp.MustCompile(`\{(\$|env\.)\w+`)

// forWriting returns the refusal of a value with another hint if the value has a form of other languages: a semicolon at
// its end, typographic quotes, or a variable of a Caddyfile.
func (r *Refusal) forWriting(s Scalar) *Refusal {
	hint := r.Hint
	switch {
	case caddyVariable.MatchString(s.Text):
		hint = "write the name of an environment variable as in ${NAME}"
	case s.Quoted:
	case strings.HasSuffix(s.Text, ";"):
		hint = "remove the semicolon at the end"
	case strings.HasPrefix(s.Text, "“") || strings.HasPrefix(s.Text, "‘") || strings.HasPrefix(s.Text, "„"):
		hint = `write the quotes " or '`
	}
	return &Refusal{What: r.What, Hint: hint, Offset: r.Offset}
}

// Quote returns s quoted and shortened, safe to print on a terminal.
func Quote(s string) string {
	const longest = 100
	if runes := []rune(s); len(runes) > longest {
		s = string(runes[:longest]) + "…"
	}
	return fmt.Sprintf("%q", s)
}

// DidYouMean returns the hint that another word was probably meant.
func DidYouMean(word string) string { return "did you mean " + Quote(word) + "?" }

// Printable replaces characters that a terminal would interpret or that do not fit on
// one line.
func Printable(s string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsPrint(c) {
			return c
		}
		return unicode.ReplacementChar
	}, s)
}
