package main

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// The size of the terminal.
const (
	columns = 100
	lines   = 100
)

// A cell is a character of a screen with its style, which is the parameter of a sequence SGR.
type cell struct {
	char  rune
	style string
}

// A screen is a terminal that knows the control sequences of weir and refuses others. It is as large as its text.
type screen struct {
	rows  [][]cell
	x, y  int
	style string
	rest  string // a sequence or character of which only a part has come
	drawn func() // called at the end of each redraw
}

// endFrame ends a redraw (synchronised output, mode 2026).
const endFrame = "?2026l"

// Write implements io.Writer.
func (s *screen) Write(p []byte) (int, error) {
	text := s.rest + string(p)
	for text != "" {
		n, err := s.next(text)
		if err != nil {
			return 0, err
		}
		if n == 0 {
			break
		}
		text = text[n:]
	}
	s.rest = text
	return len(p), nil
}

// next processes a character or a control sequence and returns its length, or 0 if it is not complete.
func (s *screen) next(text string) (int, error) {
	if text[0] != '\x1b' {
		if !utf8.FullRuneInString(text) {
			return 0, nil
		}
		r, n := utf8.DecodeRuneInString(text)
		s.put(r)
		return n, nil
	}
	end := strings.IndexFunc(text, func(r rune) bool { return r >= 'A' && r != '[' && r != '?' })
	if end < 0 {
		return 0, nil
	}
	return end + 1, s.control(strings.TrimPrefix(text[1:end+1], "["))
}

func (s *screen) put(r rune) {
	switch r {
	case '\r':
		s.x = 0
		return
	case '\n':
		s.y++
		return
	}
	row := s.row()
	for len(*row) <= s.x {
		*row = append(*row, cell{char: ' '})
	}
	(*row)[s.x] = cell{r, s.style}
	s.x++
}

// row returns the row of the cursor.
func (s *screen) row() *[]cell {
	for len(s.rows) <= s.y {
		s.rows = append(s.rows, nil)
	}
	return &s.rows[s.y]
}

// control executes a sequence without its introducer.
func (s *screen) control(sequence string) error {
	row := s.row()
	switch last := sequence[len(sequence)-1]; {
	case last == 'm':
		s.style = strings.TrimPrefix(strings.TrimSuffix(sequence, "m"), "0")
	case sequence == "K":
		*row = (*row)[:min(s.x, len(*row))]
	case sequence == "J":
		*row = (*row)[:min(s.x, len(*row))]
		s.rows = s.rows[:s.y+1]
	case last == 'A':
		var up int
		if _, err := fmt.Sscanf(sequence, "%dA", &up); err != nil {
			return fmt.Errorf("the control sequence %q: %w", sequence, err)
		}
		s.y = max(0, s.y-up)
	case sequence == endFrame:
		s.drawn()
	case sequence != "?2026h" && sequence != "?25l" && sequence != "?25h":
		return fmt.Errorf("the control sequence %q is not known; add it to docs/pictures/screen.go", sequence)
	}
	return nil
}

func (s *screen) copyRows() [][]cell {
	rows := slices.Clone(s.rows)
	for i := range rows {
		rows[i] = slices.Clone(rows[i])
	}
	return rows
}
