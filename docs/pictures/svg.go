package main

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strings"
	"time"
)

// A frame is the screen after a redraw.
type frame struct {
	at   time.Duration // since the first one
	rows [][]cell
}

// framePeriod is the time between the frames of an animation.
const framePeriod = time.Second

// Lengths in a picture of a screen, in pixels.
const (
	cellWidth  = 8.4 // of DejaVu Sans Mono at 14 pixels
	cellHeight = 17
	margin     = 16
)

// style has the colours of a terminal for the light and the dark scheme of the reader. The classes are the parameters
// of SGR.
const style = `text { fill: #24292f; font: 14px "DejaVu Sans Mono", Menlo, Consolas, monospace; white-space: pre; }
.frame { fill: #f6f8fa; stroke: #d0d7de; }
.s1, .s1-33 { font-weight: bold; }
.s2 { fill: #636c76; }
.s31 { fill: #c62828; }
.s32 { fill: #1a7f37; }
.s33, .s1-33 { fill: #8a6100; }
.s35 { fill: #8250df; }
.s36 { fill: #0b7285; }
@media (prefers-color-scheme: dark) {
text { fill: #d1d7e0; }
.frame { fill: #151b23; stroke: #3d444d; }
.s2 { fill: #9198a1; }
.s31 { fill: #ff7b72; }
.s32 { fill: #56d364; }
.s33, .s1-33 { fill: #e3b341; }
.s35 { fill: #d2a8ff; }
.s36 { fill: #56d4dd; }
}
`

// still returns a picture of a screen after a command.
func still(title, prompt string, rows [][]cell) []byte {
	var b bytes.Buffer
	for len(rows) > 0 && len(rows[len(rows)-1]) == 0 {
		rows = rows[:len(rows)-1]
	}
	start(&b, title, "", len(rows)+1)
	draw(&b, line(prompt), 0)
	for i, row := range rows {
		draw(&b, row, i+1)
	}
	b.WriteString("</svg></svg>\n")
	return b.Bytes()
}

// animation returns a picture in which frames follow each other. The frames are below each other, and the picture
// moves them up. Readers who do not want motion see the last one.
func animation(title, prompt string, frames []frame) []byte {
	tall := 0
	for _, f := range frames {
		tall = max(tall, len(f.rows))
	}
	end := frames[len(frames)-1].at + framePeriod
	up := func(i int) int { return i * tall * cellHeight }
	var moves strings.Builder
	for i, f := range frames {
		fmt.Fprintf(&moves, "%.2f%% { transform: translateY(-%dpx); }\n", 100*f.at.Seconds()/end.Seconds(), up(i))
	}
	rules := fmt.Sprintf("@keyframes roll {\n%s}\n.roll { animation: roll %.1fs steps(1, end) infinite; }\n"+
		"@media (prefers-reduced-motion: reduce) { .roll { animation: none; transform: translateY(-%dpx); } }\n",
		&moves, end.Seconds(), up(len(frames)-1))
	var b bytes.Buffer
	start(&b, title, rules, tall+1)
	draw(&b, line(prompt), 0)
	fmt.Fprintf(&b, `<svg y="%d" width="100%%" height="%d"><g class="roll">`+"\n", cellHeight, tall*cellHeight)
	for i, f := range frames {
		for k, row := range f.rows {
			draw(&b, row, i*tall+k)
		}
	}
	b.WriteString("</g></svg></svg></svg>\n")
	return b.Bytes()
}

// start writes the part of a picture before its rows.
func start(b *bytes.Buffer, title, rules string, rows int) {
	width, height := int(columns*cellWidth)+2*margin, rows*cellHeight+2*margin
	fmt.Fprintf(b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%[1]d" height="%[2]d" role="img" aria-labelledby="title">
<title id="title">%s</title>
<style>%s%s</style>
<rect class="frame" x=".5" y=".5" width="%d" height="%d" rx="8"/>
<svg x="%d" y="%[8]d" width="%d" height="%d">
`, width, height, title, style, rules, width-1, height-1, margin, width-2*margin, rows*cellHeight)
}

// line returns cells without a style.
func line(text string) []cell {
	var row []cell
	for _, r := range text {
		row = append(row, cell{char: r})
	}
	return row
}

// draw writes a row of cells, each piece of one style at its place.
func draw(b *bytes.Buffer, row []cell, y int) {
	for from := 0; from < len(row); {
		to := from + 1
		for to < len(row) && row[to].style == row[from].style {
			to++
		}
		var text strings.Builder
		for _, c := range row[from:to] {
			text.WriteRune(c.char)
		}
		kept := strings.TrimRight(text.String(), " ")
		if trimmed := strings.TrimLeft(kept, " "); trimmed != "" {
			piece(b, trimmed, row[from].style, from+len(kept)-len(trimmed), y)
		}
		from = to
	}
}

func piece(b *bytes.Buffer, text, style string, x, y int) {
	class := ""
	if style != "" {
		class = fmt.Sprintf(` class="s%s"`, strings.ReplaceAll(style, ";", "-"))
	}
	fmt.Fprintf(b, `<text x="%.1f" y="%d" textLength="%.1f" lengthAdjust="spacingAndGlyphs"%s>`,
		cellWidth*float64(x), y*cellHeight+13, cellWidth*float64(len([]rune(text))), class)
	xml.EscapeText(b, []byte(text)) // a bytes.Buffer returns no error
	b.WriteString("</text>\n")
}
