package log

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
)

// The original's colours for the parts of an event, all bold.
const (
	keyColour    = "\x1b[34;1m" // blue
	stringColour = "\x1b[32;1m" // green
	boolColour   = "\x1b[33;1m" // yellow
	numberColour = "\x1b[36;1m" // cyan
	nullColour   = "\x1b[30;1m" // black
	colourEnd    = "\x1b[0;22m"
)

// wantsColour reports whether f is a terminal and the environment (NO_COLOR,
// TERM) does not forbid colours.
func wantsColour(f *os.File) bool {
	if os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// prettyJSON appends a JSON text in indented form, with one member per line and
// sorted keys. The output is for developers: "<", ">" and "&" are not escaped,
// and of several members with the same key only the last is written.
func prettyJSON(b, event []byte, colour bool) ([]byte, error) {
	dec := json.NewDecoder(bytes.NewReader(event))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	p := printer{buf: b, colour: colour}
	p.value(v, 1)
	return p.buf, nil
}

type printer struct {
	buf    []byte
	colour bool
}

// value appends v. Its members, if any, are indented by depth levels.
func (p *printer) value(v any, depth int) {
	switch v := v.(type) {
	case nil:
		p.coloured(nullColour, "null")
	case bool:
		s := "false"
		if v {
			s = "true"
		}
		p.coloured(boolColour, s)
	case json.Number:
		p.coloured(numberColour, v.String())
	case string:
		p.coloured(stringColour, quote(v))
	case map[string]any:
		p.object(v, depth)
	case []any:
		p.array(v, depth)
	}
}

func (p *printer) object(m map[string]any, depth int) {
	if len(m) == 0 {
		p.raw("{}")
		return
	}
	p.raw("{\n")
	for i, key := range slices.Sorted(maps.Keys(m)) {
		p.indent(i, depth)
		p.coloured(keyColour, quote(key))
		p.raw(": ")
		p.value(m[key], depth+1)
	}
	p.end("}", depth)
}

func (p *printer) array(list []any, depth int) {
	if len(list) == 0 {
		p.raw("[]")
		return
	}
	p.raw("[\n")
	for i, v := range list {
		p.indent(i, depth)
		p.value(v, depth+1)
	}
	p.end("]", depth)
}

// indent starts the line of member i.
func (p *printer) indent(i, depth int) {
	if i > 0 {
		p.raw(",\n")
	}
	p.raw(strings.Repeat("  ", depth))
}

func (p *printer) end(bracket string, depth int) {
	p.raw("\n" + strings.Repeat("  ", depth-1) + bracket)
}

func (p *printer) coloured(colour, s string) {
	if !p.colour {
		p.raw(s)
		return
	}
	p.raw(colour + s + colourEnd)
}

func (p *printer) raw(s string) { p.buf = append(p.buf, s...) }

// quote returns s as a JSON string without HTML escapes.
func quote(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // encoding a string and writing to a Builder cannot fail
	return strings.TrimSuffix(b.String(), "\n")
}
