package check

import (
	"fmt"
	"strings"

	"github.com/weirhq/weir/internal/nearest"
)

// A word is a word of a check, with its offset.
type word struct {
	text string
	at   int
}

const operatorChars = "<>=!"

func (w word) operator() bool { return strings.ContainsRune(operatorChars, rune(w.text[0])) }

// splitWords splits at spaces, and before and after operators.
func splitWords(s string) []word {
	var words []word
	kindOf := func(c byte) int {
		switch {
		case strings.IndexByte(" \t\r\n", c) >= 0:
			return 0
		case strings.IndexByte(operatorChars, c) >= 0:
			return 1
		}
		return 2
	}
	for at := 0; at < len(s); {
		end, kind := at+1, kindOf(s[at])
		for end < len(s) && kindOf(s[end]) == kind {
			end++
		}
		if kind != 0 {
			words = append(words, word{s[at:end], at})
		}
		at = end
	}
	return words
}

// A wrongWord is a mistake in a check. at is its offset, or negative if a word is missing
// at the end.
type wrongWord struct {
	at  int
	why string
}

func (w *wrongWord) Error() string { return w.why }

func (w word) wrong(format string, args ...any) error {
	return &wrongWord{w.at, fmt.Sprintf(format, args...)}
}

// unknown returns an error for a word that is not known at its position.
func (w word) unknown(name string, known []string) error {
	near := synonyms[strings.ToLower(w.text)]
	if near == "" {
		near = nearest.Word(w.text, known)
	}
	if near != "" {
		return w.wrong("unknown %s %q, did you mean %s?", name, w.text, near)
	}
	return w.wrong("unknown %s %q; there are %s", name, w.text, strings.Join(known, ", "))
}

// synonyms are the words of other load generators.
var synonyms = map[string]string{
	"avg": "mean", "average": "mean", "median": "p50", "med": "p50",
	"rps": "rate", "qps": "rate", "throughput": "rate", "iops": "rate",
	"error": "errors", "failures": "errors", "http_req_failed": "errors",
	"checks": "wrong", "unexpected": "wrong",
	"=": "==", "=<": "<=", "=>": ">=",
	"ttfb": "first_byte p99", "http_req_duration": "p99", "duration": "p99",
}

var operators = []string{"<", "<=", ">", ">=", "=="}
