// Package vector draws a picture once and returns it as SVG and as PDF.
//
// Lengths are points of 1/72 inch, from the upper left corner. A PDF uses
// Helvetica, one of the 14 fonts that every reader has, so no font is embedded.
// Its encoding, WinAnsi, has the characters of Windows-1252. A few others are
// spelled out (≤ as <=, → as ->), and the rest become question marks. The SVG
// keeps the text as it is.
package vector

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image/color"
	"slices"
	"strconv"
	"strings"
)

// A Point is a place in a picture.
type Point struct{ X, Y float64 }

// A Picture is drawn from back to front. Use [New]. It is not safe for
// concurrent use.
type Picture struct {
	width, height float64
	svg, pdf      bytes.Buffer
	alphas        []uint8 // opacities of the graphics states G0, G1, … of the PDF
}

// New returns a picture of the given size with a white background.
func New(width, height float64) *Picture {
	p := &Picture{width: width, height: height}
	p.Polygon(color.NRGBA{0xff, 0xff, 0xff, 0xff}, Point{}, Point{X: width}, Point{width, height}, Point{Y: height})
	return p
}

// Polygon fills the area between points.
func (p *Picture) Polygon(fill color.NRGBA, points ...Point) {
	if len(points) == 0 {
		return
	}
	fmt.Fprintf(&p.svg, `<path d="%sZ"%s/>`+"\n", svgPath(points), svgColor("fill", fill))
	p.pdfColor(fill, "rg")
	p.pdfPath(points)
	p.pdf.WriteString("h f\n")
}

// Line draws a line of the given width through points.
func (p *Picture) Line(stroke color.NRGBA, width float64, points ...Point) {
	if len(points) == 0 {
		return
	}
	fmt.Fprintf(&p.svg, `<path d="%s" fill="none"%s stroke-width="%s"/>`+"\n",
		svgPath(points), svgColor("stroke", stroke), number(width))
	p.pdfColor(stroke, "RG")
	fmt.Fprintf(&p.pdf, "%s w\n", number(width))
	p.pdfPath(points)
	p.pdf.WriteString("S\n")
}

// Circle fills a circle.
func (p *Picture) Circle(fill color.NRGBA, center Point, radius float64) {
	fmt.Fprintf(&p.svg, `<circle cx="%s" cy="%s" r="%s"%s/>`+"\n",
		number(center.X), number(center.Y), number(radius), svgColor("fill", fill))
	p.pdfColor(fill, "rg")
	const k = 0.5523 // control points at this share of the radius approximate a quarter circle
	x, y, r, c := center.X, center.Y, radius, k*radius
	fmt.Fprintf(&p.pdf, "%s m\n", numbers(x+r, y))
	for _, curve := range [][]float64{
		{x + r, y + c, x + c, y + r, x, y + r}, {x - c, y + r, x - r, y + c, x - r, y},
		{x - r, y - c, x - c, y - r, x, y - r}, {x + c, y - r, x + r, y - c, x + r, y},
	} {
		fmt.Fprintf(&p.pdf, "%s c\n", numbers(curve...))
	}
	p.pdf.WriteString("f\n")
}

// Align says which end of a text is at its point.
type Align int

// The alignments.
const (
	Left Align = iota
	Center
	Right
)

// Text writes a line of black text of the given size. The point is on its baseline.
func (p *Picture) Text(size float64, at Point, align Align, text string) {
	fmt.Fprintf(&p.svg, `<text x="%s" y="%s" font-size="%s" text-anchor="%s">`,
		number(at.X), number(at.Y), number(size), [...]string{"start", "middle", "end"}[align])
	xml.EscapeText(&p.svg, []byte(text)) // a bytes.Buffer returns no error
	p.svg.WriteString("</text>\n")
	p.pdfColor(color.NRGBA{A: 0xff}, "rg")
	x := at.X - TextWidth(size, text)*float64(align)/2
	fmt.Fprintf(&p.pdf, "BT /F %s Tf 1 0 0 -1 %s Tm (%s) Tj ET\n",
		number(size), numbers(x, at.Y), pdfString(winAnsi(text)))
}

// SVG returns the picture as a file.
func (p *Picture) SVG() []byte {
	w, h := number(p.width), number(p.height)
	head := fmt.Appendf(nil, `<svg xmlns="http://www.w3.org/2000/svg" width="%spt" height="%spt" viewBox="0 0 %[1]s %[2]s"`+
		` font-family="Helvetica, Arial, 'Liberation Sans', sans-serif">`+"\n", w, h)
	return slices.Concat(head, p.svg.Bytes(), []byte("</svg>\n"))
}

func svgPath(points []Point) string {
	var b strings.Builder
	for i, pt := range points {
		b.WriteByte("ML"[min(i, 1)])
		b.WriteString(numbers(pt.X, pt.Y))
	}
	return b.String()
}

func svgColor(attribute string, c color.NRGBA) string {
	text := fmt.Sprintf(` %s="#%02x%02x%02x"`, attribute, c.R, c.G, c.B)
	if c.A < 0xff {
		text += fmt.Sprintf(` %s-opacity="%s"`, attribute, number(float64(c.A)/0xff))
	}
	return text
}

// number writes at most two decimals.
func number(v float64) string {
	return strings.TrimRight(strings.TrimRight(strconv.FormatFloat(v, 'f', 2, 64), "0"), ".")
}

// numbers writes several numbers with spaces between them.
func numbers(vs ...float64) string {
	var b strings.Builder
	for i, v := range vs {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(number(v))
	}
	return b.String()
}
