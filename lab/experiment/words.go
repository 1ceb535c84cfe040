package experiment

import (
	"strings"

	"github.com/weirhq/weir/internal/yamlfile"
)

// splitWords splits a command line like a shell: at spaces, except those in
// quotes or after a backslash. Nothing is expanded. Characters that have a
// meaning to a shell are refused, because there is no shell. [Service]
// describes ${...}.
func splitWords(text string) ([]string, *yamlfile.Refusal) {
	s := splitter{text: text}
	for s.at < len(text) {
		if refused := s.next(); refused != nil {
			return nil, refused
		}
	}
	s.end()
	return s.words, nil
}

// A splitter is the state of the splitting.
type splitter struct {
	text   string
	at     int
	words  []string
	word   strings.Builder
	inWord bool // also for an empty word: ''
}

// next takes a character, or a quoted part.
func (s *splitter) next() *yamlfile.Refusal {
	c := s.text[s.at]
	switch {
	case strings.IndexByte(" \t\r\n", c) >= 0:
		s.end()
	case c == '\'':
		return s.single()
	case c == '"':
		return s.double()
	case c == '\\':
		if s.at++; s.at == len(s.text) {
			return yamlfile.Refuse(`write \\ for a backslash`, "there is nothing after the last backslash").At(s.at - 1)
		}
		s.put(s.text[s.at])
	case strings.IndexByte("|&;<>()`", c) >= 0 || c == '#' && !s.inWord:
		return yamlfile.Refuse("put quotes around it, or run a shell: [sh, -c, \"...\"]",
			"%s is a shell's, and there is none", yamlfile.Quote(string(c))).At(s.at)
	default:
		s.put(c)
	}
	s.at++
	return nil
}

// single takes the rest of a part in single quotes, in which no character is
// special.
func (s *splitter) single() *yamlfile.Refusal {
	length := strings.IndexByte(s.text[s.at+1:], '\'')
	if length < 0 {
		return s.open()
	}
	s.inWord = true
	s.word.WriteString(s.text[s.at+1 : s.at+1+length])
	s.at += length + 2
	return nil
}

// double takes the rest of a part in double quotes, in which a backslash
// escapes a quote or a backslash and is itself otherwise.
func (s *splitter) double() *yamlfile.Refusal {
	s.inWord = true
	for i := s.at + 1; i < len(s.text); i++ {
		c := s.text[i]
		switch {
		case c == '"':
			s.at = i + 1
			return nil
		case c == '\\' && i+1 < len(s.text) && strings.IndexByte(`"\$`+"`", s.text[i+1]) >= 0:
			i++
			s.put(s.text[i])
		default:
			s.put(c)
		}
	}
	return s.open()
}

func (s *splitter) open() *yamlfile.Refusal {
	return yamlfile.Refuse("close it", "a quote is opened and not closed").At(s.at)
}

func (s *splitter) put(c byte) {
	s.inWord = true
	s.word.WriteByte(c)
}

// end ends a word, if there is one.
func (s *splitter) end() {
	if s.inWord {
		s.words = append(s.words, s.word.String())
	}
	s.word.Reset()
	s.inWord = false
}
