package where

import (
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// A token is the smallest part of an expression that has a meaning: a name, a
// literal or an operator. The end is a token without text.
type token struct {
	text   string // as it is written
	at     int    // offset of text in the expression
	isName bool
	kind   kind  // of a literal; otherwise kindMissing
	value  value // of a literal
}

const space = " \t\r\n"

var (
	nameForm  = regexp.MustCompile(`^[\pL_][\pL_\p{Nd}]*`)
	tokenForm = regexp.MustCompile(`^(?s:` +
		`"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|` + "`[^`]*`|" + // texts
		`0x(?:[\pL_\p{Nd}]|\.[0-9])*|\.?[0-9](?:[eE][+-]|[\pL_\p{Nd}]|\.[0-9])*|` + // numbers
		`[\pL_][\pL_\p{Nd}]*|` +
		`&&|\|\||==|!=|<=|>=|\*\*|\.\.|\?\?|\?\.|[-+*/%<>!?:,;|.()[\]{}#=])`)
)

// isWord reports whether a name is an operator.
func isWord(name string) bool {
	_, ok := operators[name]
	return ok || name == "not" || name == "let"
}

// advance steps to the next token.
func (p *parser) advance() {
	p.ended = p.next
	rest := strings.TrimLeft(p.source[p.next:], space)
	t := token{text: tokenForm.FindString(rest), at: len(p.source) - len(rest)}
	p.now, p.next = t, t.at+len(t.text)
	first, _ := utf8.DecodeRuneInString(rest)
	switch {
	case rest == "": // errors at the end point to the last character
		written := strings.TrimRight(p.source, space)
		_, size := utf8.DecodeLastRuneInString(written)
		p.now.at = len(written) - size
	case t.text == "" && strings.ContainsRune("\"'`", first):
		p.reject(t.at, "", "a text without its closing quote")
	case t.text == "":
		p.reject(t.at, "", "unexpected %q", first)
	case strings.ContainsRune("\"'`", first):
		p.now.kind, p.now.value = kindText, textValue(p.unquoted(t))
	case strings.ContainsAny(t.text[:min(2, len(t.text))], "0123456789") && !isLetter(first):
		p.number()
	default:
		p.now.isName = isLetter(first) && !isWord(t.text)
	}
}

// unquoted returns the text in quotes. Backquotes have no escapes in them.
func (p *parser) unquoted(t token) string {
	rest := t.text[1 : len(t.text)-1]
	if t.text[0] == '`' {
		return rest
	}
	var text []byte
	for rest != "" {
		var quote byte // \' and \" are escapes in both quotes
		if rest[0] == '\\' {
			quote = rest[1]
		}
		c, isMultibyte, tail, err := strconv.UnquoteChar(rest, quote)
		switch {
		case err != nil:
			p.reject(t.at+len(t.text)-1-len(rest), "", "an escape that does not exist")
			return ""
		case isMultibyte:
			text = utf8.AppendRune(text, c)
		default:
			text = append(text, byte(c))
		}
		rest = tail
	}
	return string(text)
}

// number reads a number, a duration or a size.
func (p *parser) number() {
	const hint = "durations are written as 250ms or 1m30s, sizes as 64KiB or 8MiB"
	t := &p.now
	t.value, t.kind = parseNumber(t.text)
	unit := strings.IndexFunc(t.text, isLetter)
	switch {
	case t.kind != kindMissing:
	case unit > 0:
		p.reject(t.at+unit, hint, "unknown unit %q", t.text[unit:])
	default:
		p.reject(t.at, hint, "%q is not a number", t.text)
	}
}

// sizes are the units of sizes.
var sizes = map[string]int64{"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}

// parseNumber returns a value and its kind, which is kindMissing after an error.
func parseNumber(written string) (value, kind) {
	if d, err := time.ParseDuration(written); err == nil && written != "0" {
		return intValue(d), kindDuration
	}
	digits := strings.ReplaceAll(written, "_", "")
	base := 10
	if len(digits) > 1 && digits[0] == '0' && strings.IndexByte("xXoObB", digits[1]) >= 0 {
		base = 0
	}
	if n, err := strconv.ParseInt(digits, base, 64); err == nil {
		return intValue(n), kindNumber
	}
	if f, err := strconv.ParseFloat(digits, 64); err == nil && base == 10 {
		return floatValue(f), kindNumber
	}
	unit := strings.TrimLeft(digits, "0123456789")
	n, err := strconv.ParseInt(strings.TrimSuffix(digits, unit), 10, 64)
	if factor := sizes[unit]; err == nil && factor != 0 && n <= 1<<62/factor {
		return intValue(n * factor), kindNumber
	}
	return value{}, kindMissing
}

func isLetter(c rune) bool { return c == '_' || unicode.IsLetter(c) }
