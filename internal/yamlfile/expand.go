package yamlfile

import "strings"

// Expand returns text with each ${...} replaced by value's result for the text between
// the braces, and $$ by a dollar, and all refusals. Any other dollar stays, because
// regular expressions may end in one. It is applied to values after the YAML parser, so
// that replacements are never parsed as YAML.
func Expand(text string, value func(inside string) (string, *Refusal)) (string, []*Refusal) {
	var out strings.Builder
	var wrong []*Refusal
	for rest := text; rest != ""; {
		i := strings.IndexByte(rest, '$')
		if i < 0 {
			out.WriteString(rest)
			break
		}
		out.WriteString(rest[:i])
		rest = rest[i:]
		offset := len(text) - len(rest)
		switch {
		case strings.HasPrefix(rest, "$$"):
			out.WriteByte('$')
			rest = rest[2:]
		case strings.HasPrefix(rest, "${"):
			end := closingBrace(rest)
			if end < 0 {
				return out.String(), append(wrong, Refuse("write $$ for a dollar", `"${" without its "}"`).At(offset))
			}
			put, refused := value(rest[2:end])
			if refused != nil {
				wrong = append(wrong, refused.At(offset))
			}
			out.WriteString(put)
			rest = rest[end+1:]
		default:
			out.WriteByte('$')
			rest = rest[1:]
		}
	}
	return out.String(), wrong
}

// closingBrace returns the index of the brace that closes the first one in s, or -1.
// Braces nest, so that a default can be a regular expression.
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
