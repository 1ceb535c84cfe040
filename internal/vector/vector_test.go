package vector_test

import (
	"bytes"
	"compress/zlib"
	"encoding/xml"
	"fmt"
	"image/color"
	"io"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/vector"
)

func picture(text string) *vector.Picture {
	p := vector.New(200, 100)
	red := color.NRGBA{0xff, 0, 0, 0x80}
	p.Polygon(red, vector.Point{X: 1, Y: 2}, vector.Point{X: 30, Y: 2}, vector.Point{X: 30, Y: 40.5})
	p.Line(red, 1.5, vector.Point{X: 1, Y: 2}, vector.Point{X: 30, Y: 40})
	p.Circle(red, vector.Point{X: 50, Y: 50}, 3)
	p.Text(10, vector.Point{X: 100, Y: 50}, vector.Center, text)
	return p
}

// content returns the decompressed page of a PDF.
func content(t *testing.T, pdf []byte) string {
	t.Helper()
	_, stream, ok := bytes.Cut(pdf, []byte("\nstream\n"))
	if !ok {
		t.Fatalf("no stream in %q", pdf)
	}
	r, err := zlib.NewReader(bytes.NewReader(stream))
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestTextOfPDF(t *testing.T) {
	for text, want := range map[string]string{
		"µs – 95 % ± 1, ×2, “Ü”…": "\xb5s \x96 95 % \xb1 1, \xd72, \x93\xdc\x94\x85",
		`a (b) \ c`:               `a \(b\) \\ c`,
		"≤ 5, ≥ 6 → ∞, μ":         "<= 5, >= 6 -> inf, \xb5",
		"漢字\x00\x81":              "????",
	} {
		if got := content(t, picture(text).PDF()); !strings.Contains(got, " Tm ("+want+") Tj ET\n") {
			t.Errorf("%q is written as %q, want %q", text, got[strings.Index(got, "BT"):], want)
		}
	}
}

// TestPDFOffsets checks that each entry of the cross-reference table is the place
// of its object.
func TestPDFOffsets(t *testing.T) {
	pdf := string(picture("text").PDF())
	_, after, _ := strings.Cut(pdf, "startxref\n")
	at, err := strconv.Atoi(strings.TrimSuffix(after, "\n%%EOF\n"))
	if err != nil || !strings.HasPrefix(pdf[at:], "xref\n0 6\n") {
		t.Fatalf("startxref is %q, %v", after, err)
	}
	for i, line := range strings.Split(pdf[at:], "\n")[3:8] {
		offset, err := strconv.Atoi(line[:10])
		if want := fmt.Sprintf("%d 0 obj\n", i+1); err != nil || len(line) != 19 || !strings.HasPrefix(pdf[offset:], want) {
			t.Errorf("entry %q, %v: want the place of %q", line, err, want)
		}
	}
}

func TestSVGIsWellFormed(t *testing.T) {
	d := xml.NewDecoder(bytes.NewReader(picture("a < b & ≤ \x01").SVG()))
	elements := map[string]int{}
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok {
			elements[e.Name.Local]++
		}
	}
	if elements["path"] != 3 || elements["circle"] != 1 || elements["text"] != 1 {
		t.Errorf("elements are %v", elements)
	}
}

func TestTextWidth(t *testing.T) {
	for text, want := range map[string]float64{"": 0, " ": 2.78, "Weir": 9.44 + 5.56 + 2.22 + 3.33, "µ≤": 5.56 + 5.84 + 5.84} {
		if got := vector.TextWidth(10, text); math.Abs(got-want) > 1e-9 {
			t.Errorf("TextWidth(10, %q) is %v, want %v", text, got, want)
		}
	}
}
