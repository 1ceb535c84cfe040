package vector

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"image/color"
	"slices"
	"strings"
)

// PDF returns the picture as a file of one page (ISO 32000-1).
func (p *Picture) PDF() []byte {
	var states strings.Builder
	for i, a := range p.alphas {
		opacity := number(float64(a) / 0xff)
		fmt.Fprintf(&states, "/G%d <</ca %s /CA %s>>", i, opacity, opacity)
	}
	var content bytes.Buffer
	z := zlib.NewWriter(&content)
	fmt.Fprintf(z, "1 0 0 -1 0 %s cm\n", number(p.height)) // y grows downwards, as in SVG
	z.Write(p.pdf.Bytes())                                 // a bytes.Buffer returns no error
	z.Close()
	file := bytes.NewBufferString("%PDF-1.4\n")
	var offsets []int
	for _, object := range []string{
		"<</Type /Catalog /Pages 2 0 R>>",
		"<</Type /Pages /Kids [3 0 R] /Count 1>>",
		fmt.Sprintf("<</Type /Page /Parent 2 0 R /MediaBox [0 0 %s] /Contents 5 0 R "+
			"/Resources <</Font <</F 4 0 R>> /ExtGState <<%s>>>>>>", numbers(p.width, p.height), &states),
		"<</Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding>>",
		fmt.Sprintf("<</Length %d /Filter /FlateDecode>>\nstream\n%s\nendstream", content.Len(), &content),
	} {
		offsets = append(offsets, file.Len())
		fmt.Fprintf(file, "%d 0 obj\n%s\nendobj\n", len(offsets), object)
	}
	table := file.Len()
	fmt.Fprintf(file, "xref\n0 %d\n0000000000 65535 f \n", len(offsets)+1)
	for _, at := range offsets {
		fmt.Fprintf(file, "%010d 00000 n \n", at)
	}
	fmt.Fprintf(file, "trailer\n<</Size %d /Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(offsets)+1, table)
	return file.Bytes()
}

// pdfColor sets the colour and the opacity of the next shape. The operator is
// rg to fill and RG to stroke.
func (p *Picture) pdfColor(c color.NRGBA, operator string) {
	i := slices.Index(p.alphas, c.A)
	if i < 0 {
		i = len(p.alphas)
		p.alphas = append(p.alphas, c.A)
	}
	r, g, b := float64(c.R)/0xff, float64(c.G)/0xff, float64(c.B)/0xff
	fmt.Fprintf(&p.pdf, "/G%d gs %.3f %.3f %.3f %s\n", i, r, g, b, operator)
}

func (p *Picture) pdfPath(points []Point) {
	for i, pt := range points {
		fmt.Fprintf(&p.pdf, "%s %c\n", numbers(pt.X, pt.Y), "ml"[min(i, 1)])
	}
}

var pdfEscapes = strings.NewReplacer("\\", "\\\\", "(", "\\(", ")", "\\)")

func pdfString(encoded []byte) string { return pdfEscapes.Replace(string(encoded)) }

// winAnsiHigh holds the characters 0x80 to 0x9f, which differ from Latin-1. A
// space is a code without a character.
var winAnsiHigh = []rune("€ ‚ƒ„…†‡ˆ‰Š‹Œ Ž  ‘’“”•–—˜™š›œ žŸ")

// spellings are the replacements of characters that WinAnsi lacks.
var spellings = map[rune]string{
	'≤': "<=", '≥': ">=", '≠': "!=", '≈': "~", '−': "-", '→': "->", '←': "<-", '∞': "inf", 'μ': "\xb5",
	'\u2009': " ", '\u202f': " ", // thin spaces
}

// winAnsi encodes a text for a PDF.
func winAnsi(text string) []byte {
	b := make([]byte, 0, len(text))
	for _, r := range text {
		high := slices.Index(winAnsiHigh, r)
		switch spelled, ok := spellings[r]; {
		case ok:
			b = append(b, spelled...)
		case r >= ' ' && r <= '~', r >= 0xa0 && r <= 0xff:
			b = append(b, byte(r))
		case high >= 0:
			b = append(b, byte(0x80+high))
		default:
			b = append(b, '?')
		}
	}
	return b
}

// TextWidth returns the width of a text in Helvetica of the given size.
func TextWidth(size float64, text string) float64 {
	sum := 0
	for _, c := range winAnsi(text) {
		sum += int(helvetica[c-' '])
	}
	return float64(sum) * size / 1000
}

// helvetica holds the widths of the characters from the space on in WinAnsi, in
// thousandths of the font's size (Adobe's metrics of the 14 standard fonts).
var helvetica = [224]uint16{
	278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278,
	556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556,
	1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778,
	667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556,
	333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556,
	556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584, 350,
	556, 350, 222, 556, 333, 1000, 556, 556, 333, 1000, 667, 333, 1000, 350, 611, 350,
	350, 222, 222, 333, 333, 350, 556, 1000, 333, 1000, 500, 333, 944, 350, 500, 667,
	278, 333, 556, 556, 556, 556, 260, 556, 333, 737, 370, 556, 584, 333, 737, 333,
	400, 584, 333, 333, 333, 556, 537, 278, 333, 333, 365, 556, 834, 834, 834, 611,
	667, 667, 667, 667, 667, 667, 1000, 722, 667, 667, 667, 667, 278, 278, 278, 278,
	722, 722, 778, 778, 778, 778, 778, 584, 778, 722, 722, 722, 722, 667, 667, 611,
	556, 556, 556, 556, 556, 556, 889, 500, 556, 556, 556, 556, 278, 278, 278, 278,
	556, 556, 556, 556, 556, 556, 556, 584, 611, 556, 556, 556, 556, 500, 556, 500,
}
