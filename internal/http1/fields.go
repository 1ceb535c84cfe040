package http1

// A Span is a range of bytes in the caller's buffer.
type Span struct{ Start, End uint32 }

// Of returns the bytes of the span in buf.
func (s Span) Of(buf []byte) []byte { return buf[s.Start:s.End] }

// Len returns the number of bytes in the span.
func (s Span) Len() int { return int(s.End - s.Start) }

func span(start, end int) Span { return Span{uint32(start), uint32(end)} }

// A Field is a field of a head or a trailer. Value has no whitespace around it.
type Field struct{ Name, Value Span }

// inlineFields is the number of fields that [Fields] holds without an allocation. Most
// heads have fewer.
const inlineFields = 32

// Fields are the fields of a head or of trailers, in the order of their arrival. The
// first 32 are stored inline. More are stored in a slice that is allocated once and
// reused. The number of fields is limited by the parser. The zero value is empty.
type Fields struct {
	n      int
	inline [inlineFields]Field
	spill  []Field
}

// Len returns the number of fields.
func (f *Fields) Len() int { return f.n }

// At returns field i.
func (f *Fields) At(i int) Field {
	if i < inlineFields {
		return f.inline[:min(f.n, inlineFields)][i]
	}
	return f.spill[i-inlineFields]
}

func (f *Fields) reset() {
	if f != nil {
		f.n, f.spill = 0, f.spill[:0]
	}
}

func (f *Fields) add(field Field) {
	if f.n < inlineFields {
		f.inline[f.n] = field
	} else {
		f.spill = append(f.spill, field)
	}
	f.n++
}
