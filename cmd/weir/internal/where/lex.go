package where

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

type tokenKind int

const (
	tokenEnd tokenKind = iota
	tokenName
	tokenLiteral // a number, a duration, a size or a text
	tokenOperator
)

// A token is the smallest part of an expression that has a meaning.
type token struct {
	kind  tokenKind
	text  string // as it is written
	at    int    // offset of text in the expression
	value value  // of a literal
	of    kind   // of a literal
}

// A lexer cuts an expression into tokens.
type lexer struct {
	source string
	at     int
}

// words are the operators that are written with letters, negatable those that
// may have a not before them.
var (
	words     = append([]string{"and", "or", "not", "let"}, negatable...)
	negatable = []string{"in", "contains", "startsWith", "endsWith", "matches"}
)

var (
	nameForm     = regexp.MustCompile(`^[\pL_][\pL_\p{Nd}]*`)
	numberForm   = regexp.MustCompile(`^(?:0x(?:[\pL_\p{Nd}]|\.[0-9])*|\.?[0-9](?:[eE][+-]|[\pL_\p{Nd}]|\.[0-9])*)`)
	operatorForm = regexp.MustCompile(`^(?:&&|\|\||==|!=|<=|>=|\*\*|\.\.|\?\?|\?\.|[-+*/%^<>!?:,;|.()[\]{}#=])`)
)

// next returns the next token.
func (l *lexer) next() (token, *Error) {
	rest := strings.TrimLeft(l.source[l.at:], " \t\r\n")
	l.at = len(l.source) - len(rest)
	if rest == "" {
		written := strings.TrimRight(l.source, " \t\r\n")
		_, size := utf8.DecodeLastRuneInString(written)
		return token{at: len(written) - size}, nil // errors at the end point to the last character
	}
	if strings.IndexByte("\"'`", rest[0]) >= 0 {
		return l.text()
	}
	if number := numberForm.FindString(rest); number != "" {
		return l.number(len(number))
	}
	if name := nameForm.FindString(rest); slices.Contains(words, name) {
		return l.take(tokenOperator, len(name)), nil
	} else if name != "" {
		return l.take(tokenName, len(name)), nil
	}
	operator := operatorForm.FindString(rest)
	if operator == "?." && len(rest) > 2 && isDigit(rest[2]) {
		operator = "?" // before a number such as .5
	}
	if operator == "" {
		first, _ := utf8.DecodeRuneInString(rest)
		return token{}, errorAt(l.at, "", "unexpected %q", first)
	}
	return l.take(tokenOperator, len(operator)), nil
}

func (l *lexer) take(kind tokenKind, size int) token {
	t := token{kind: kind, text: l.source[l.at : l.at+size], at: l.at}
	l.at += size
	return t
}

// text reads a text in quotes. Backquotes have no escapes in them.
func (l *lexer) text() (token, *Error) {
	quote, rest := l.source[l.at], l.source[l.at+1:]
	var b strings.Builder
	for rest != "" && rest[0] != quote {
		switch {
		case quote == '`':
			b.WriteByte(rest[0])
			rest = rest[1:]
		case strings.HasPrefix(rest, `\'`) || strings.HasPrefix(rest, `\"`):
			b.WriteByte(rest[1])
			rest = rest[2:]
		default:
			c, isMultibyte, tail, err := strconv.UnquoteChar(rest, 0)
			if err != nil {
				return token{}, errorAt(len(l.source)-len(rest), "", "an escape that does not exist")
			}
			if isMultibyte {
				b.WriteRune(c)
			} else {
				b.WriteByte(byte(c))
			}
			rest = tail
		}
	}
	if rest == "" {
		return token{}, errorAt(l.at, "", "a text without its closing quote")
	}
	t := l.take(tokenLiteral, len(l.source)-len(rest)+1-l.at)
	t.of, t.value = kindText, textValue(b.String())
	return t, nil
}

// number reads a number, a duration or a size.
func (l *lexer) number(size int) (token, *Error) {
	t := l.take(tokenLiteral, size)
	var ok bool
	if t.value, t.of, ok = parseNumber(t.text); ok {
		return t, nil
	}
	const hint = "durations are written as 250ms or 1m30s, sizes as 64KiB or 8MiB"
	if unit := strings.IndexFunc(t.text, isLetter); unit > 0 {
		return t, errorAt(t.at+unit, hint, "unknown unit %q", t.text[unit:])
	}
	return t, errorAt(t.at, hint, "%q is not a number", t.text)
}

// sizes are the units of sizes.
var sizes = map[string]int64{"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}

func parseNumber(written string) (value, kind, bool) {
	if d, err := time.ParseDuration(written); err == nil && written != "0" {
		return intValue(int64(d)), kindDuration, true
	}
	digits := strings.ReplaceAll(written, "_", "")
	base := 10
	if len(digits) > 1 && digits[0] == '0' && strings.IndexByte("xXoObB", digits[1]) >= 0 {
		base = 0
	}
	if n, err := strconv.ParseInt(digits, base, 64); err == nil {
		return intValue(n), kindNumber, true
	}
	if f, err := strconv.ParseFloat(digits, 64); err == nil && base == 10 {
		return floatValue(f), kindNumber, true
	}
	unit := strings.TrimLeft(digits, "0123456789")
	n, err := strconv.ParseInt(strings.TrimSuffix(digits, unit), 10, 64)
	if factor := sizes[unit]; err == nil && factor != 0 && n <= 1<<62/factor {
		return intValue(n * factor), kindNumber, true
	}
	return value{}, 0, false
}

func isDigit(b byte) bool  { return '0' <= b && b <= '9' }
func isLetter(c rune) bool { return c == '_' || unicode.IsLetter(c) }
