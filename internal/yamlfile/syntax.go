package yamlfile

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A syntaxError is an error of the YAML parser, with the source. The parser reports where it could not go on; the
// methods look for the mistake that people have made there.
type syntaxError struct {
	lines     []string // of the source
	msg       string   // of the parser
	line, col int      // of the parser, 1-based; the column counts characters
}

// A finding is a mistake in the syntax of a source. Its position is 1-based; the column counts bytes.
type finding struct {
	line, col  int
	what, hint string
}

// find returns the probable mistake, or nil.
func (e *syntaxError) find() *finding {
	for _, find := range []func() *finding{e.block, e.tab, e.unbalanced, e.notKey, e.colon, e.indentation} {
		if found := find(); found != nil {
			return found
		}
	}
	return nil
}

// hint returns the correction for the parser's message, or "".
func (e *syntaxError) hint() string {
	for part, hint := range map[string]string{
		"reserved character":       "put quotes around the value",
		"directive value":          "put quotes around the value",
		"invalid header option":    "put quotes around the value",
		"flow map content":         "put quotes around the value",
		"unknown escape character": "put single quotes around the value: a backslash has a meaning only in double quotes",
		// Usually {match: /a/{b}} or [${NAME}].
		"',' or": "inside { } and [ ], put quotes around a value that contains a brace, a bracket or a comma",
	} {
		if !strings.Contains(e.msg, part) {
			continue
		}
		if text := e.text(e.line); part == "',' or" && e.col <= len(text) && strings.ContainsRune(`"'`, rune(text[e.col-1])) {
			return "write a comma between the values"
		}
		return hint
	}
	return ""
}

// text returns a line, 1-based. It is empty beyond the last one.
func (e *syntaxError) text(line int) string {
	if line < 1 || line > len(e.lines) {
		return ""
	}
	return e.lines[line-1]
}

// next returns the first line with content from a line on, or 0.
func (e *syntaxError) next(line int) int {
	for ; line <= len(e.lines); line++ {
		if text := strings.TrimSpace(e.text(line)); text != "" && text[0] != '#' {
			return line
		}
	}
	return 0
}

// blockLine is a line of nginx or Caddy, such as "server {".
var blockLine = regexp.MustCompile(`^:?[^\s:#'"{\[-]([^:#'"{]|:\S)*\s\{$`)

// block finds a block of nginx or Caddy, at the place of the error or at the start of the source.
func (e *syntaxError) block() *finding {
	for _, line := range []int{e.line, e.next(1)} {
		if text := strings.TrimSpace(e.text(line)); blockLine.MatchString(text) {
			what, hint := notKey(text)
			return e.at(line, what, hint)
		}
	}
	return nil
}

// at returns a finding about a line from its first character on.
func (e *syntaxError) at(line int, what, hint string) *finding {
	return &finding{line, 1 + indentOf(e.text(line)), what, hint}
}

// indentOf returns the length of the blanks and tabs at the start of a line.
func indentOf(text string) int { return len(text) - len(strings.TrimLeft(text, " \t")) }

// tab finds the first line that a tab indents, up to the line after the error.
func (e *syntaxError) tab() *finding {
	for line := 1; line <= min(e.line+1, len(e.lines)); line++ {
		text := e.text(line)
		if i := strings.IndexByte(text[:indentOf(text)], '\t'); i >= 0 {
			return &finding{line, i + 1, fmt.Sprintf("a tab indents line %d", line), "indent with spaces: YAML allows only spaces"}
		}
	}
	return nil
}

// unbalanced finds a bracket or a quote that is not closed, in the whole source.
func (e *syntaxError) unbalanced() *finding {
	var b balance
	for line := 1; line <= len(e.lines) && b.found == nil; line++ {
		b.read(line, e.text(line))
	}
	b.end()
	return b.found
}

// notKey finds a line that is not a key with a value.
func (e *syntaxError) notKey() *finding {
	text := strings.TrimSpace(e.text(e.line))
	for item, ok := strings.CutPrefix(text, "- "); ok; item, ok = strings.CutPrefix(text, "- ") {
		text = strings.TrimSpace(item)
	}
	what, hint := notKey(text)
	if what == "" {
		return nil
	}
	return &finding{e.line, 1 + strings.LastIndex(e.text(e.line), text), what, hint}
}

// Lines that are not a key with a value. keyName is the first word of most of them.
const keyName = `[A-Za-z_][\w.-]*`

var (
	assignment = regexp.MustCompile(`^(` + keyName + `)\s*=\s*(.*)$`)
	noBlank    = regexp.MustCompile(`^(` + keyName + `):(([^\s/]|/[^/]).*)$`)
	noDash     = regexp.MustCompile(`^-([^\s-].*)$`)
	noColon    = regexp.MustCompile(`^(` + keyName + `)(\s+[^\s#{=].*)?$`)
	otherMark  = regexp.MustCompile(`^(//|/\*|--|;)`)
	haproxy    = regexp.MustCompile(`^(global|(frontend|backend) \S+)$`)
)

// notKey returns what is wrong with the text of a line that should be a key with a value, and what to write. It returns
// "" if it is none of the known forms.
func notKey(text string) (what, hint string) {
	line := strings.TrimSpace(strings.TrimRight(text, "; "))
	what = Quote(text) + " is not a key with a value"
	switch m := []string(nil); {
	case otherMark.MatchString(text):
		return Quote(text) + " is not a comment", "a comment begins with #"
	case blockLine.MatchString(text):
		name := strings.TrimSpace(strings.TrimSuffix(text, "{"))
		return Quote(text) + " begins a block of another language",
			fmt.Sprintf("in YAML, this is %q, with its keys indented below it and without braces", name+":")
	case haproxy.MatchString(text):
		return Quote(text) + " begins a section of another language",
			fmt.Sprintf("in YAML, this is %q, with its keys indented below it", text+":")
	case match(&m, assignment, line), match(&m, noBlank, line):
		return what, fmt.Sprintf("write %s: %s", m[1], m[2])
	case match(&m, noDash, line):
		return Quote(text) + " has no blank after the dash", "write - " + m[1]
	case strings.Contains(line, ": "):
		if line != text && !strings.HasSuffix(line, ":") {
			return Quote(text) + " ends in a semicolon", "remove it: lines of YAML have none"
		}
	case match(&m, noColon, line) && strings.TrimSpace(m[2]) == "":
		return Quote(text) + " has no colon", fmt.Sprintf("write a key with a colon and its value, as in %s: VALUE", m[1])
	case m != nil:
		return what, fmt.Sprintf("write %s: %s", m[1], strings.TrimSpace(m[2]))
	}
	return "", ""
}

// match stores the parts of a text that a pattern matches, and reports whether it does.
func match(m *[]string, pattern *regexp.Regexp, text string) bool {
	*m = pattern.FindStringSubmatch(text)
	return *m != nil
}

// colon finds a value that contains a colon and a blank.
func (e *syntaxError) colon() *finding {
	_, value, _ := strings.Cut(e.text(e.line), ": ")
	value = strings.TrimSpace(value)
	if !strings.Contains(e.msg, "mapping value") || !strings.Contains(value, ": ") || strings.ContainsAny(value[:1], `"'{[`) {
		return nil
	}
	return &finding{e.line, 1 + strings.LastIndex(e.text(e.line), value), Quote(value) + " contains a colon with a blank",
		"put quotes around it"}
}

// A level is the indentation of keys, or of the dashes of a list.
type level struct {
	indent, line int
	item         bool // a dash
}

// levelsBefore returns the levels of the lines before a line that could go on in it.
func (e *syntaxError) levelsBefore(end int) (levels []level) {
	for line := e.next(1); line > 0 && line < end; line = e.next(line + 1) {
		text := e.text(line)
		indent := indentOf(text)
		levels = slices.DeleteFunc(levels, func(l level) bool { return l.indent > indent || l.indent == indent && l.item })
		for rest := text[indent:]; ; {
			item := rest == "-" || strings.HasPrefix(rest, "- ")
			if !slices.ContainsFunc(levels, func(l level) bool { return l.indent == indent && l.item == item }) {
				levels = append(levels, level{indent, line, item})
			}
			if !item || rest == "-" {
				break
			}
			after := strings.TrimLeft(rest[1:], " ")
			indent, rest = indent+len(rest)-len(after), after
		}
	}
	return levels
}

// indentation finds a line whose indentation is not that of the lines to which it belongs: the line of the error, or
// the next one, which continues a value.
func (e *syntaxError) indentation() *finding {
	line := e.line
	if e.col > 1+indentOf(e.text(line)) {
		line = e.next(line + 1)
	}
	levels := e.levelsBefore(line)
	if line == 0 || len(levels) == 0 {
		return nil
	}
	text := e.text(line)
	indent, item := indentOf(text), strings.HasPrefix(strings.TrimSpace(text), "- ")
	last := levels[len(levels)-1]
	fits := func(l level) bool { return l.indent == indent && l.item == item }
	to := nearestLevel(levels, indent, item)
	hint := fmt.Sprintf("indent it by %d, as line %d", to.indent, to.line)
	switch {
	case indent > last.indent && item:
		return e.at(line, fmt.Sprintf("a list begins on line %d, and line %d has another value", line, last.line),
			"write all values in one list, as in [a, b]")
	case indent > last.indent:
		return e.at(line, fmt.Sprintf("line %d is indented as if it was in line %d, which has a value", line, last.line), hint)
	case slices.ContainsFunc(levels, fits):
		return nil
	case item:
		return e.at(line, fmt.Sprintf("line %d is indented by %d, unlike the list above it", line, indent), hint)
	}
	return e.at(line, fmt.Sprintf("line %d is indented by %d, unlike the keys above it", line, indent), hint)
}

// nearestLevel returns the level of the same kind, if there is one, whose indentation differs least. Of two, it is the inner one.
func nearestLevel(levels []level, indent int, item bool) level {
	distance := func(l level) int {
		d := max(l.indent-indent, indent-l.indent)
		if l.item != item {
			d += 1000
		}
		return d
	}
	best := levels[0]
	for _, l := range levels {
		if distance(l) <= distance(best) {
			best = l
		}
	}
	return best
}
