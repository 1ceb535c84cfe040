package main

import (
	"encoding/xml"
	"strings"
	"testing"
	"time"
)

// text returns the rows of a screen, each piece with its style in brackets.
func text(rows [][]cell) string {
	var b strings.Builder
	for _, row := range rows {
		style := ""
		for _, c := range row {
			if c.style != style {
				b.WriteString("[" + c.style + "]")
				style = c.style
			}
			b.WriteRune(c.char)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// TestScreenAcceptsCutSequences writes two redraws and a report byte by byte, so that every sequence and character
// comes in parts.
func TestScreenAcceptsCutSequences(t *testing.T) {
	var frames []string
	s := &screen{}
	s.drawn = func() { frames = append(frames, text(s.rows)) }
	for _, b := range []byte("\x1b[?2026h\x1b[?25l\r\x1b[1mone\x1b[0m\x1b[K\r\n███ 7 s\x1b[K\x1b[J\x1b[?2026l" +
		"\x1b[?2026h\x1b[?25l\r\x1b[1Aa\x1b[K\r\n\x1b[1;33mb\x1b[0m\x1b[K\x1b[J\x1b[?2026l" +
		"\r\x1b[1A\x1b[J\x1b[?25hend\r\n") {
		if _, err := s.Write([]byte{b}); err != nil {
			t.Fatal(err)
		}
	}
	if want := "[1]one\n███ 7 s\n"; len(frames) != 2 || frames[0] != want || frames[1] != "a\n[1;33]b\n" {
		t.Errorf("the frames are %q", frames)
	}
	if got := text(s.rows); got != "end\n" {
		t.Errorf("the screen ends as %q", got)
	}
	if _, err := s.Write([]byte("\x1b[5n")); err == nil {
		t.Error("an unknown sequence is no error")
	}
}

// TestPicturesAreXMLWithAllText checks that pictures are XML with all text at its place.
func TestPicturesAreXMLWithAllText(t *testing.T) {
	rows := [][]cell{line("a <b> & c  "), {}, append(line("   "), cell{'█', "36"}), {}}
	for name, picture := range map[string][]byte{
		"still":     still("t", "$ x", rows),
		"animation": animation("t", "$ x", []frame{{0, rows[:1]}, {time.Second, rows}}),
	} {
		if err := xml.Unmarshal(picture, new(struct{})); err != nil {
			t.Errorf("the %s is not XML: %v", name, err)
		}
		for _, want := range []string{`>a &lt;b&gt; &amp; c</text>`, `<text x="25.2" y="`, ` class="s36">█</text>`} {
			if !strings.Contains(string(picture), want) {
				t.Errorf("the %s has no %s:\n%s", name, want, picture)
			}
		}
	}
}
