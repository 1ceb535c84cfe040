package yamlfile

import (
	"regexp"
	"strings"

	"github.com/goccy/go-yaml/token"
)

// requoted returns a text that is in quotes in a file: without them where they have no effect, in double quotes, or in
// single quotes if double ones would need a backslash. within says that the text is in brackets.
func requoted(text string, key, within bool) string {
	switch {
	case needsNoQuotes(text, key, within):
		return text
	case strings.ContainsAny(text, `"\`) && text == Printable(text):
		return "'" + strings.ReplaceAll(text, "'", "''") + "'"
	default:
		return inQuotes(text)
	}
}

// Texts that other parsers of YAML, of version 1.1, read as a truth value, as nothing, as a time or as a base-60 number.
var otherTypes = regexp.MustCompile(`^(?i:y|n|null|[-+0-9._:]+|[0-9]{4}-[0-9]+-[0-9]+.*)$`)

// needsNoQuotes reports whether every parser of YAML reads a plain text as the same text, and people do.
func needsNoQuotes(text string, key, within bool) bool {
	switch {
	case text == "" || text != Printable(text) || text != strings.TrimSpace(text):
		return false
	case strings.ContainsAny(text, "\"'`\\#!|<>;"):
		return false
	case strings.ContainsRune("-?:,[]{}&*%@~=", rune(text[0])) || strings.HasPrefix(text, "..."):
		return false
	case strings.Contains(text, ": ") || strings.HasSuffix(text, ":"):
		return false
	case key && strings.Contains(text, ":") || within && strings.ContainsAny(text, ",[]{}:"):
		return false
	}
	return !yes(text) && !meansOff(text) && token.New(text, text, &token.Position{}).Type == token.StringType &&
		!otherTypes.MatchString(text)
}

// unusualPlain reports whether a plain text needs quotes, although the parser has read it without them.
func unusualPlain(text string) bool {
	return text == "" || text != Printable(text) || strings.ContainsRune("%@`\"'[]{},|>&*!#", rune(text[0]))
}
