package report_test

import (
	"fmt"
	"strings"
	"testing"
)

// A screen is a terminal that knows the sequences of Live and refuses others.
// Like most terminals it wraps lines again when it becomes narrower.
type screen struct {
	t             *testing.T
	width, height int
	rows          [][]rune
	x, y          int
	hidden        bool
	writes        int
}

func newScreen(t *testing.T, width, height int) *screen {
	return &screen{t: t, width: width, height: height, rows: make([][]rune, 1)}
}

func (s *screen) size() (int, int) { return s.width, s.height }

func (s *screen) Write(p []byte) (int, error) {
	s.writes++
	text := []rune(string(p))
	for len(text) > 0 {
		switch r := text[0]; {
		case r == 0x1b:
			text = text[s.control(string(text)):]
			continue
		case r == '\r':
			s.x = 0
		case r == '\n':
			s.y++
			for len(s.rows) <= s.y {
				s.rows = append(s.rows, nil)
			}
		case r < ' ' || r >= 0x7f && r < 0xa0:
			s.t.Errorf("the terminal was sent %q", r)
		default:
			s.put(r)
		}
		text = text[1:]
	}
	return len(p), nil
}

func (s *screen) put(r rune) {
	if s.x >= s.width {
		s.t.Fatalf("a line of more than %d characters: %q", s.width, string(s.rows[s.y]))
	}
	for len(s.rows[s.y]) <= s.x {
		s.rows[s.y] = append(s.rows[s.y], ' ')
	}
	s.rows[s.y][s.x] = r
	s.x++
}

// control executes a control sequence and returns its length.
func (s *screen) control(text string) int {
	length := strings.IndexFunc(text[2:], func(r rune) bool { return r >= 'A' }) + 3
	switch sequence := text[1:length]; {
	case sequence == "[?25l":
		s.hidden = true
	case sequence == "[?25h":
		s.hidden = false
	case sequence == "[?2026h", sequence == "[?2026l", strings.HasSuffix(sequence, "m"):
	case sequence == "[K":
		s.rows[s.y] = s.rows[s.y][:min(s.x, len(s.rows[s.y]))]
	case sequence == "[J":
		s.rows[s.y] = s.rows[s.y][:min(s.x, len(s.rows[s.y]))]
		s.rows = s.rows[:s.y+1]
	case strings.HasSuffix(sequence, "A"):
		var up int
		if _, err := fmt.Sscanf(sequence, "[%dA", &up); err != nil || up < 1 || up >= s.height {
			s.t.Errorf("the terminal of %d lines was sent ESC%s", s.height, sequence)
		}
		s.y = max(0, s.y-up)
	default:
		s.t.Errorf("the terminal was sent ESC%s", sequence)
	}
	return length
}

// resize changes the width; the cursor stays at the end of its line.
func (s *screen) resize(width int) {
	var rows [][]rune
	for i, row := range s.rows {
		for len(row) > width {
			rows, row = append(rows, row[:width:width]), row[width:]
		}
		rows = append(rows, row)
		if i == s.y {
			s.y = len(rows) - 1
			s.x = len(row)
		}
	}
	s.rows, s.width = rows, width
}

func (s *screen) String() string {
	var b strings.Builder
	for _, row := range s.rows {
		b.WriteString(strings.TrimRight(string(row), " ") + "\n")
	}
	return b.String()
}
