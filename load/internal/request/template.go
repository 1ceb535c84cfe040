package request

import (
	"bytes"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/weirhq/weir/load/internal/random"
)

// A Template is a text with parts that are generated for each request. A part is
// an action between {{ and }}: a word with its arguments, separated by spaces, or
// a quoted text. The doc comment of target.Target lists the actions.
type Template []Part

// templateWords lists the actions for error messages.
const templateWords = `there are {{seq}}, {{uuid}}, {{rand 1 100}}, {{line "file"}} and {{now}}; ` +
	`write {{"{{"}} for two braces`

type partKind uint8

const (
	partText partKind = iota
	partSeq
	partUUID
	partRand
	partLine
	partNow
	partFrom
)

// A Part is text or an action. The zero Part is an empty text.
type Part struct {
	kind   partKind
	text   []byte // of partText
	low    int64  // of partRand
	span   uint64 // of partRand: the number of values, 0 for 2^64
	file   string // of partLine
	lines  [][]byte
	from   From  // of partFrom
	value  int   // of partFrom: the index of the value
	where  place // of partFrom
	offset int   // in the template's text
}

// From names a value of a response: of which step of a flow, and which.
type From struct{ Step, Value string }

// Froms returns the values of responses that the template needs, by their offsets.
func (t Template) Froms() iter.Seq2[int, From] {
	return func(yield func(int, From) bool) {
		for _, p := range t {
			if p.kind == partFrom && !yield(p.offset, p.from) {
				return
			}
		}
	}
}

// Literal returns a part that is always the same text.
func Literal(texts ...string) Part { return Part{text: []byte(strings.Join(texts, ""))} }

// ParseTemplate reads a template. It does not read files of lines.
func ParseTemplate(text string) (Template, error) {
	var t Template
	for rest := text; rest != ""; {
		begin := strings.Index(rest, "{{")
		if begin < 0 {
			begin = len(rest)
		}
		offset := len(text) - len(rest)
		if begin > 0 {
			t = append(t, Part{text: []byte(rest[:begin]), offset: offset})
		}
		if rest = rest[begin:]; rest == "" {
			break
		}
		p, length, err := parseAction(rest)
		if err != nil {
			return nil, Shift(err, offset+begin)
		}
		p.offset = offset + begin
		t = append(t, p)
		rest = rest[length:]
	}
	return t, nil
}

// parseAction reads the action at the start of text, and returns its length with
// the braces.
func parseAction(text string) (Part, int, error) {
	words, length, err := splitAction(text)
	if err != nil {
		return Part{}, 0, err
	}
	bad := func(format string, args ...any) (Part, int, error) {
		return Part{}, 0, ErrorAt(0, "the template %s: %s; %s", text[:length], fmt.Sprintf(format, args...),
			templateWords)
	}
	if len(words) == 0 {
		return bad("it is empty")
	}
	if words[0].quoted {
		if len(words) > 1 {
			return bad("a quoted text takes no words")
		}
		return Part{text: []byte(words[0].text)}, length, nil
	}
	known, ok := templateActions[words[0].text]
	if !ok {
		return bad("there is no %q", words[0].text)
	}
	if got := len(words) - 1; got != known.arguments {
		return bad("%s takes %d words, and has %d", words[0].text, known.arguments, got)
	}
	p := Part{kind: known.kind}
	switch p.kind {
	case partLine:
		p.file = words[1].text
	case partFrom:
		p.from = From{words[1].text, words[2].text}
	case partRand:
		low, err := strconv.ParseInt(words[1].text, 10, 64)
		if err != nil {
			return bad("%q is not an integer of 64 bits", words[1].text)
		}
		high, err := strconv.ParseInt(words[2].text, 10, 64)
		if err != nil {
			return bad("%q is not an integer of 64 bits", words[2].text)
		}
		if low > high {
			return bad("%d is above %d", low, high)
		}
		p.low, p.span = low, uint64(high)-uint64(low)+1
	}
	return p, length, nil
}

var templateActions = map[string]struct {
	kind      partKind
	arguments int
}{
	"seq": {partSeq, 0}, "uuid": {partUUID, 0}, "rand": {partRand, 2}, "line": {partLine, 1}, "now": {partNow, 0},
	"from": {partFrom, 2},
}

type templateWord struct {
	text   string
	quoted bool
}

// splitAction splits an action into words. Braces in quotes do not end it.
func splitAction(text string) (words []templateWord, length int, err error) {
	i := len("{{")
	for i < len(text) {
		switch rest := text[i:]; {
		case rest[0] == ' ' || rest[0] == '\t':
			i++
		case strings.HasPrefix(rest, "}}"):
			return words, i + len("}}"), nil
		case rest[0] == '"' || rest[0] == '`':
			quoted, err := strconv.QuotedPrefix(rest)
			if err != nil {
				return nil, 0,
					ErrorAt(i, "the quoted text of a template does not end, or has an escape that Go does not have")
			}
			word, _ := strconv.Unquote(quoted) // QuotedPrefix has accepted it
			words = append(words, templateWord{word, true})
			i += len(quoted)
		default:
			end := i + wordLength(rest)
			words = append(words, templateWord{text[i:end], false})
			i = end
		}
	}
	return nil, 0, ErrorAt(0, "{{ begins a template that no }} ends; %s", templateWords)
}

// wordLength returns the length of the word at the start of rest.
func wordLength(rest string) int {
	for i := 1; i < len(rest); i++ {
		if c := rest[i]; c == ' ' || c == '\t' || c == '"' || c == '`' || c == '}' {
			return i
		}
	}
	return len(rest)
}

// EscapeTemplate returns a template that yields the text unchanged.
func EscapeTemplate(text string) string {
	return strings.ReplaceAll(text, "{{", `{{"{{"}}`)
}

// Fixed returns the text of a template, and whether it has no actions.
func (t Template) Fixed() ([]byte, bool) {
	var text []byte
	for _, p := range t {
		if p.kind != partText {
			return nil, false
		}
		text = append(text, p.text...)
	}
	return text, true
}

// Joined returns the template with adjacent texts joined.
func (t Template) Joined() Template {
	var out Template
	for _, p := range t {
		if last := len(out) - 1; p.kind == partText && last >= 0 && out[last].kind == partText {
			out[last].text = append(out[last].text, p.text...)
			continue
		}
		if p.kind == partText {
			p.text = bytes.Clone(p.text)
		}
		out = append(out, p)
	}
	return out
}

// Append appends the template's text for request number seq. Parts of files use
// the given line, and those of responses the values of a flow.
func (t Template) Append(b []byte, seq, line uint64, r *random.Source, values []string) []byte {
	for i := range t {
		p := &t[i]
		switch p.kind {
		case partText:
			b = append(b, p.text...)
		case partSeq:
			b = strconv.AppendUint(b, seq, 10)
		case partUUID:
			b = random.AppendUUID(b, r.Next(), r.Next())
		case partRand:
			b = strconv.AppendInt(b, p.low+int64(random.Below(r.Next(), p.span)), 10)
		case partLine:
			b = append(b, p.lines[line%uint64(len(p.lines))]...)
		case partNow:
			b = strconv.AppendInt(b, time.Now().UnixMilli(), 10)
		case partFrom:
			b = p.appendValue(b, values[p.value])
		}
	}
	return b
}

// appendValue appends a value, which is percent-encoded in a URL.
func (p *Part) appendValue(b []byte, value string) []byte {
	if p.where != inURL {
		return append(b, value...)
	}
	for i := range len(value) {
		if c := value[i]; isUnreserved(c) {
			b = append(b, c)
		} else {
			b = appendEncoded(b, c)
		}
	}
	return b
}

// column returns the offset in the template's text of byte i of a part. For
// quoted text it is the offset of the action.
func (p *Part) column(text string, i int) int {
	if strings.HasPrefix(text[p.offset:], "{{") {
		return p.offset
	}
	return p.offset + i
}

// PathEnd returns the offset of a URL's query or fragment. A ? or # in an action
// does not count.
func PathEnd(url string) int {
	t, err := ParseTemplate(url)
	if err != nil {
		return len(url)
	}
	for _, p := range t {
		if i := strings.IndexAny(string(p.text), "?#"); i >= 0 {
			return p.column(url, i)
		}
	}
	return len(url)
}
