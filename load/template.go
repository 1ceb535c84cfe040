package load

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A template is a text with parts that are made anew for each request. Between
// {{ and }} stands a word with what it needs, separated by spaces, or a quoted
// text; Target says which there are.
type template []templatePart

// templateWords is for messages.
const templateWords = `there are {{seq}}, {{uuid}}, {{rand 1 100}}, {{line "file"}} and {{now}}; two braces as they are, are written {{"{{"}}`

type partKind uint8

const (
	partText partKind = iota
	partSeq
	partUUID
	partRand
	partLine
	partNow
)

type templatePart struct {
	kind   partKind
	text   []byte // of partText
	low    int64  // of partRand
	span   uint64 // of partRand: how many numbers there are, 0 for 2^64
	file   string // of partLine
	lines  [][]byte
	offset int // where the part begins in the template's text
}

// parseTemplate reads a template; lines of files are not read yet.
func parseTemplate(text string) (template, error) {
	var t template
	for rest := text; rest != ""; {
		begin := strings.Index(rest, "{{")
		if begin < 0 {
			begin = len(rest)
		}
		offset := len(text) - len(rest)
		if begin > 0 {
			t = append(t, templatePart{text: []byte(rest[:begin]), offset: offset})
		}
		if rest = rest[begin:]; rest == "" {
			break
		}
		p, length, err := parseAction(rest)
		if err != nil {
			return nil, shift(err, offset+begin)
		}
		p.offset = offset + begin
		t = append(t, p)
		rest = rest[length:]
	}
	return t, nil
}

// parseAction reads what text begins with, from its two braces to the closing
// ones, and how long that is.
func parseAction(text string) (templatePart, int, error) {
	words, length, err := splitAction(text)
	if err != nil {
		return templatePart{}, 0, err
	}
	bad := func(format string, args ...any) (templatePart, int, error) {
		return templatePart{}, 0, at(0, "the template %s: %s; %s", text[:length], fmt.Sprintf(format, args...), templateWords)
	}
	if len(words) == 0 {
		return bad("it is empty")
	}
	if words[0].quoted {
		if len(words) > 1 {
			return bad("quoted text stands alone")
		}
		return templatePart{text: []byte(words[0].text)}, length, nil
	}
	known, ok := templateActions[words[0].text]
	if !ok {
		return bad("there is no %q", words[0].text)
	}
	if got := len(words) - 1; got != known.arguments {
		return bad("%s takes %d words, and has %d", words[0].text, known.arguments, got)
	}
	p := templatePart{kind: known.kind}
	switch p.kind {
	case partLine:
		p.file = words[1].text
	case partRand:
		low, err := strconv.ParseInt(words[1].text, 10, 64)
		if err != nil {
			return bad("%q is no integer of 64 bits", words[1].text)
		}
		high, err := strconv.ParseInt(words[2].text, 10, 64)
		if err != nil {
			return bad("%q is no integer of 64 bits", words[2].text)
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
}

type templateWord struct {
	text   string
	quoted bool
}

// splitAction splits an action into its words. Braces in quotes do not end it.
func splitAction(text string) (words []templateWord, length int, err error) {
	i := len("{{")
	for i < len(text) {
		switch rest := text[i:]; {
		case rest[0] == ' ' || rest[0] == '\t':
			i++
		case strings.HasPrefix(rest, "}}"):
			return words, i + len("}}"), nil
		case rest[0] == '"':
			quoted, err := strconv.QuotedPrefix(rest)
			if err != nil {
				return nil, 0, at(i, "the quoted text of a template does not end, or has an escape that Go's strings have not")
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
	return nil, 0, at(0, "{{ begins a template, and no }} ends it; %s", templateWords)
}

// wordLength is how far the word goes that rest begins with.
func wordLength(rest string) int {
	for i := 1; i < len(rest); i++ {
		if c := rest[i]; c == ' ' || c == '\t' || c == '"' || c == '}' {
			return i
		}
	}
	return len(rest)
}

// hasLines reports whether the template takes lines of a file.
func (t template) hasLines() bool {
	return slices.ContainsFunc(t, func(p templatePart) bool { return p.kind == partLine })
}

// escapeTemplate returns a template that yields the text as it is.
func escapeTemplate(text string) string {
	return strings.ReplaceAll(text, "{{", `{{"{{"}}`)
}

// fixed returns the text of a template that has nothing but text.
func (t template) fixed() ([]byte, bool) {
	var text []byte
	for _, p := range t {
		if p.kind != partText {
			return nil, false
		}
		text = append(text, p.text...)
	}
	return text, true
}

// joined returns the template with neighbouring texts made one.
func (t template) joined() template {
	var out template
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

// random yields the numbers of one request: Steele, Lea and Flood's SplitMix64
// (OOPSLA 2014), whose state is a function of the seed and the request.
type random uint64

func requestRandom(seed, seq uint64) random { return random(mix64(mix64(seed) + seq)) }

func (r *random) next() uint64 {
	*r += 0x9e3779b97f4a7c15
	return mix64(uint64(*r))
}

func mix64(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// append appends the template's text for a request, with that line of the files.
func (t template) append(b []byte, seq, line uint64, r *random) []byte {
	for i := range t {
		p := &t[i]
		switch p.kind {
		case partText:
			b = append(b, p.text...)
		case partSeq:
			b = strconv.AppendUint(b, seq, 10)
		case partUUID:
			b = appendUUID(b, r.next(), r.next())
		case partRand:
			b = strconv.AppendInt(b, p.low+int64(below(r.next(), p.span)), 10)
		case partLine:
			b = append(b, p.lines[line%uint64(len(p.lines))]...)
		case partNow:
			b = strconv.AppendInt(b, time.Now().UnixMilli(), 10)
		}
	}
	return b
}

// below maps a random number to one below span, with 0 for 2^64: the high half
// of their product (Lemire, "Fast Random Integer Generation in an Interval",
// 2019), without the rejection that would even out span/2^64 of a difference.
func below(n, span uint64) uint64 {
	if span == 0 {
		return n
	}
	high, _ := bits.Mul64(n, span)
	return high
}

// appendUUID appends 16 random bytes as a UUID, RFC 9562 section 5.4.
func appendUUID(b []byte, high, low uint64) []byte {
	var id [16]byte
	binary.BigEndian.PutUint64(id[:8], high&^0xf000|0x4000)
	binary.BigEndian.PutUint64(id[8:], low&^(0xc0<<56)|0x80<<56)
	text := [36]byte{8: '-', 13: '-', 18: '-', 23: '-'}
	for i, at := range [16]uint8{0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34} {
		text[at], text[at+1] = lowerHex[id[i]>>4], lowerHex[id[i]&15]
	}
	return append(b, text[:]...)
}

const (
	lowerHex = "0123456789abcdef"
	upperHex = "0123456789ABCDEF"
)

// A place is where a template stands, which decides what a line of a file may
// hold there.
type place uint8

const (
	inBody place = iota
	inHeader
	inURL
)

// lineFiles reads each file once, and makes it fit each place once, for all
// templates of a program.
type lineFiles struct {
	folder string
	fitted map[lineFile][][]byte
}

type lineFile struct {
	name  string
	where place
}

// resolve gives the template the lines of its files.
func (f *lineFiles) resolve(t template, where place) error {
	for i := range t {
		p := &t[i]
		if p.kind != partLine {
			continue
		}
		var err error
		if p.lines, err = f.fit(p.file, where); err != nil {
			return &columnError{p.offset + 1, err}
		}
	}
	return nil
}

// fit returns a file's lines as they may stand in a place.
func (f *lineFiles) fit(name string, where place) ([][]byte, error) {
	if lines, ok := f.fitted[lineFile{name, where}]; ok {
		return lines, nil
	}
	var lines [][]byte
	var err error
	if where == inBody {
		lines, err = readLines(inFolder(f.folder, name))
	} else {
		lines, err = f.fit(name, inBody)
	}
	if err != nil {
		return nil, err
	}
	switch where {
	case inURL:
		lines = escapeLines(lines)
	case inHeader:
		if err := checkLines(name, lines); err != nil {
			return nil, err
		}
	}
	if f.fitted == nil {
		f.fitted = make(map[lineFile][][]byte)
	}
	f.fitted[lineFile{name, where}] = lines
	return lines, nil
}

func readLines(name string) ([][]byte, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("the lines of a template: %w", err)
	}
	if len(data) == 0 {
		return nil, fmt.Errorf("%s is empty; a template needs at least one line", name)
	}
	lines := bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
	for i, line := range lines {
		lines[i] = bytes.TrimSuffix(line, []byte("\r"))
	}
	return lines, nil
}

// escapeLines percent-escapes all but the unreserved characters of RFC 3986
// section 2.3, since a line may be a part of a path or of a query.
func escapeLines(lines [][]byte) [][]byte {
	escaped := make([][]byte, len(lines))
	for i, line := range lines {
		out := make([]byte, 0, len(line))
		for _, c := range line {
			if isUnreserved(c) {
				out = append(out, c)
			} else {
				out = appendEncoded(out, c)
			}
		}
		escaped[i] = out
	}
	return escaped
}

func isUnreserved(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~", c) >= 0
}

// checkLines refuses a line that would not stay within its header.
func checkLines(name string, lines [][]byte) error {
	for i, line := range lines {
		if j := bytes.IndexFunc(line, isControl); j >= 0 {
			return fmt.Errorf("%s:%d:%d: the control character %q cannot stand in a header", name, i+1, j+1, line[j])
		}
	}
	return nil
}

// isControl tells what RFC 9110 section 5.5 keeps out of a field's value.
func isControl(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }
