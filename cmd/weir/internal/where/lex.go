package where

import (
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

// words are the operators that are written with letters.
var words = []string{"and", "or", "not", "in", "contains", "startsWith", "endsWith", "matches", "let"}

// pairs are the operators of two characters.
var pairs = []string{"&&", "||", "==", "!=", "<=", ">=", "**", "..", "??", "?."}

// next returns the next token.
func (l *lexer) next() (token, *Error) {
	for l.at < len(l.source) && strings.IndexByte(" \t\r\n", l.source[l.at]) >= 0 {
		l.at++
	}
	rest := l.source[l.at:]
	if rest == "" {
		written := strings.TrimRight(l.source, " \t\r\n")
		_, size := utf8.DecodeLastRuneInString(written)
		return token{at: len(written) - size}, nil // errors at the end point to the last character
	}
	first, _ := utf8.DecodeRuneInString(rest)
	switch {
	case strings.ContainsRune("\"'`", first):
		return l.text()
	case isDigit(rest[0]) || first == '.' && len(rest) > 1 && isDigit(rest[1]):
		return l.number()
	case isLetter(first):
		end := strings.IndexFunc(rest, func(c rune) bool { return !isLetter(c) && !unicode.IsDigit(c) })
		if end < 0 {
			end = len(rest)
		}
		if oneOf(rest[:end], words) {
			return l.take(tokenOperator, end), nil
		}
		return l.take(tokenName, end), nil
	case len(rest) >= 2 && oneOf(rest[:2], pairs) && (rest[:2] != "?." || len(rest) == 2 || !isDigit(rest[2])):
		return l.take(tokenOperator, 2), nil
	case strings.ContainsRune("+-*/%^<>!?:,;|.()[]{}#=", first):
		return l.take(tokenOperator, 1), nil
	}
	return token{}, errorAt(l.at, "", "unexpected %q", first)
}

func (l *lexer) take(kind tokenKind, size int) token {
	t := token{kind: kind, text: l.source[l.at : l.at+size], at: l.at}
	l.at += size
	return t
}

// text reads a text in quotes.
func (l *lexer) text() (token, *Error) {
	quote := l.source[l.at]
	rest := l.source[l.at+1:]
	if quote == '`' {
		end := strings.IndexByte(rest, quote)
		if end < 0 {
			return token{}, errorAt(l.at, "", "a text without its closing quote")
		}
		t := l.take(tokenLiteral, end+2)
		t.of, t.value = kindText, textValue(rest[:end])
		return t, nil
	}
	var b strings.Builder
	for rest != "" && rest[0] != quote {
		at := len(l.source) - len(rest)
		if strings.HasPrefix(rest, `\'`) || strings.HasPrefix(rest, `\"`) {
			b.WriteByte(rest[1])
			rest = rest[2:]
			continue
		}
		c, multibyte, tail, err := strconv.UnquoteChar(rest, 0)
		if err != nil {
			return token{}, errorAt(at, "", "an escape that does not exist")
		}
		if multibyte {
			b.WriteRune(c)
		} else {
			b.WriteByte(byte(c))
		}
		rest = tail
	}
	if rest == "" {
		return token{}, errorAt(l.at, "", "a text without its closing quote")
	}
	t := l.take(tokenLiteral, len(l.source)-len(rest)+1-l.at)
	t.of, t.value = kindText, textValue(b.String())
	return t, nil
}

// number reads a number, a duration or a size.
func (l *lexer) number() (token, *Error) {
	rest := l.source[l.at:]
	end := 0
	for end < len(rest) {
		c, size := utf8.DecodeRuneInString(rest[end:])
		isExponent := end > 0 && (c == '+' || c == '-') && rest[end-1]|0x20 == 'e' && !strings.HasPrefix(rest, "0x")
		isPoint := c == '.' && end+1 < len(rest) && isDigit(rest[end+1])
		if !isLetter(c) && !unicode.IsDigit(c) && !isExponent && !isPoint {
			break
		}
		end += size
	}
	t := l.take(tokenLiteral, end)
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

func oneOf(s string, of []string) bool {
	for _, one := range of {
		if s == one {
			return true
		}
	}
	return false
}
