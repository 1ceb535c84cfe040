package log_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// notForTerminals returns a part of the lines that a terminal would not just
// print, or "". Tabs are allowed between pairs if tabs is set.
func notForTerminals(block string, tabs bool) string {
	if tabs {
		block = strings.ReplaceAll(block, "\t", " ")
	}
	for i, line := range slices.Collect(strings.Lines(block)) {
		if raw := rawControl(line); raw != "" {
			return raw
		}
		if i > 0 && !strings.HasPrefix(line, "    ") {
			return fmt.Sprintf("line %q, which is not indented", line)
		}
	}
	var vt terminal
	vt.write(block)
	if vt.other != nil || vt.colored > 0 || vt.state != printing {
		return fmt.Sprintf("sequences %q", vt.other)
	}
	return ""
}

// A terminal is a parser of ECMA-48, with 7 and 8 bits, as far as is needed to
// find control sequences.
type terminal struct {
	state      state
	sequence   string   // the current one, as far as read
	attributes string   // set by SGR
	colored    int      // number of times that SGR set some
	other      []string // sequences and controls other than text, newline and SGR
}

type state int

const (
	printing state = iota
	escape         // after ESC
	csi            // after CSI, until a final byte
	text8          // in an OSC, DCS, SOS, PM or APC, until ST or BEL
)

func (v *terminal) write(s string) {
	for _, c := range s {
		switch v.state {
		case printing:
			v.print(c)
		case escape:
			v.escaped(c)
		case csi:
			v.sequence += string(c)
			if c >= 0x40 && c <= 0x7E {
				v.control()
			}
		case text8:
			if c == 0x07 || c == 0x9C {
				v.state = printing
			}
		}
	}
}

func (v *terminal) print(c rune) {
	v.sequence = ""
	switch {
	case c == 0x1B:
		v.state = escape
	case c == 0x9B:
		v.state = csi
	case c == 0x90 || c == 0x98 || c >= 0x9D && c <= 0x9F:
		v.state = text8
		v.other = append(v.other, string(c))
	case c < ' ' && c != '\n' || c >= 0x7F && c < 0xA0:
		v.other = append(v.other, string(c))
	}
}

func (v *terminal) escaped(c rune) {
	switch c {
	case '[':
		v.state = csi
	case ']', 'P', 'X', '^', '_':
		v.state = text8
		v.other = append(v.other, "ESC "+string(c))
	default:
		v.state = printing
		v.other = append(v.other, "ESC "+string(c))
	}
}

// control handles a complete CSI sequence.
func (v *terminal) control() {
	v.state = printing
	attributes, ok := strings.CutSuffix(v.sequence, "m")
	switch {
	case !ok || strings.Trim(attributes, "0123456789;") != "":
		v.other = append(v.other, "CSI "+v.sequence)
	case attributes == "" || attributes == "0":
		v.attributes = ""
	default:
		v.attributes = attributes
		v.colored++
	}
}

func TestTerminalNoticesEscapeSequences(t *testing.T) {
	for _, c := range []struct{ block, want string }{
		{"text, 日本語\n    more\n", ""},
		{"\x1b[31mred", `other [], left on "31", 1 times`},
		{"\x1b[1;31mred\x1b[0m", `other [], left on "", 1 times`},
		{"\x1b[2J", `other ["CSI 2J"], left on "", 0 times`},
		{"\u009b5;1H", `other ["CSI 5;1H"], left on "", 0 times`},
		{"\x1b[?25l\x1bc", `other ["CSI ?25l" "ESC c"], left on "", 0 times`},
		{"\x1b]0;title\x07\r", `other ["ESC ]" "\r"], left on "", 0 times`},
		{"\u0090payload\u009c\u0085", `other ["\u0090" "\u0085"], left on "", 0 times`},
		{"\x1b[>4;2m", `other ["CSI >4;2m"], left on "", 0 times`},
		{"a\x00\x7f\x0e", `other ["\x00" "\x7f" "\x0e"], left on "", 0 times`},
	} {
		var vt terminal
		vt.write(c.block)
		got := ""
		if vt.other != nil || vt.colored > 0 {
			got = fmt.Sprintf("other %q, left on %q, %d times", vt.other, vt.attributes, vt.colored)
		}
		if got != c.want {
			t.Errorf("%q: got %s, want %s", c.block, got, c.want)
		}
	}
}
