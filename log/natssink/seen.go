package natssink

import (
	"bytes"
	"strconv"
	"strings"
)

// Seen finds the lines of messages that were delivered twice. It remembers one number for
// each source. The zero value is ready for use, by one goroutine.
type Seen struct{ next map[string]uint64 }

// New returns the lines of a message that were in no message before, and remembers them. id
// is the header Nats-Msg-Id. The messages of a source must come in the order of their
// stream. All lines are new in a message with an id of another form.
func (s *Seen) New(id string, lines []byte) []byte {
	source, first, ok := parseID(id)
	if !ok {
		return lines
	}
	if s.next == nil {
		s.next = map[string]uint64{}
	}
	next := s.next[source]
	for ; first < next && len(lines) > 0; first++ {
		_, lines, _ = bytes.Cut(lines, []byte("\n"))
	}
	s.next[source] = max(next, first+uint64(bytes.Count(lines, []byte("\n"))))
	return lines
}

// parseID returns the source and the number of the first line of the id of a message.
func parseID(id string) (source string, first uint64, ok bool) {
	rest, count, _ := cutLast(id)
	source, number, _ := cutLast(rest)
	if _, err := strconv.ParseUint(count, 10, 32); err != nil {
		return "", 0, false
	}
	first, err := strconv.ParseUint(number, 10, 64)
	return source, first, err == nil && source != ""
}

// cutLast splits a text at its last hyphen.
func cutLast(text string) (before, after string, found bool) {
	at := strings.LastIndexByte(text, '-')
	if at < 0 {
		return "", text, false
	}
	return text[:at], text[at+1:], true
}
