package config

import (
	"strings"

	"github.com/weirhq/weir/internal/yamlfile"
)

// environment returns what replaces ${NAME}, ${NAME:-default} and $$ in a text.
func environment(lookup func(string) (string, bool)) func(string) (string, []*yamlfile.Refusal) {
	return func(text string) (string, []*yamlfile.Refusal) {
		return yamlfile.Expand(text, func(inside string) (string, *yamlfile.Refusal) { return variable(inside, lookup) })
	}
}

// variable returns the value of what stood between ${ and }.
func variable(inside string, lookup func(string) (string, bool)) (string, *yamlfile.Refusal) {
	name, fallback, hasFallback := strings.Cut(inside, ":-")
	if !isEnvName(name) {
		return "", yamlfile.Refuse("write ${NAME} or ${NAME:-default}, and $$ for a dollar", "%s names no environment variable", yamlfile.Quote("${"+inside+"}"))
	}
	value, ok := lookup(name)
	switch {
	case value != "" || ok && !hasFallback:
		return value, nil
	case !hasFallback:
		return "", yamlfile.Refuse("set it, or give a default: ${"+name+":-value}", "the environment variable %s is not set", name)
	case strings.Contains(fallback, "${"):
		return "", yamlfile.Refuse("give a plain default", "the default of %s holds a variable itself", name)
	default:
		return strings.ReplaceAll(fallback, "$$", "$"), nil
	}
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
