package front

import (
	"testing"

	"github.com/weirhq/weir/internal/http1"
	"github.com/weirhq/weir/internal/http1/http1test"
)

// FuzzHTTP1 checks that the parser of package http1 refuses each stream of requests that
// framing refuses, except for the listed reasons.
func FuzzHTTP1(f *testing.F) {
	for _, c := range http1test.Ambiguous {
		f.Add([]byte(c.Raw))
	}
	for _, c := range http1test.Unusual {
		f.Add([]byte(c.Raw))
	}
	f.Fuzz(func(t *testing.T, wire []byte) {
		if len(wire) > 3000 {
			return
		}
		var old framing
		_, ends := follow(&old, wire, 1)
		theirs, accepted := requestEnds(wire)
		if old.state >= atPreface && old.state <= outOfSight {
			return // HTTP/2
		}
		switch {
		case old.err == errHost:
			return // http1 knows default ports
		case old.err != nil && accepted:
			t.Errorf("%q: framing refuses it, %v, and http1 does not", wire, old.err)
		}
		for i, end := range theirs {
			if i < len(ends) && ends[i] != end {
				t.Errorf("%q: requests end at %d, to framing at %d", wire, theirs, ends)
			}
		}
	})
}

// requestEnds returns the ends of requests according to package http1, and whether it
// accepts the whole stream so far.
func requestEnds(wire []byte) (ends []int, accepted bool) {
	var p http1.RequestParser
	at := 0
	for at < len(wire) {
		n, err := p.Parse(wire[at:])
		if n == 0 || err != nil {
			return ends, err == nil
		}
		at += n
		switch h := &p.Head; h.Framing {
		case http1.BodyLength:
			if int64(len(wire)-at) < h.Length {
				return ends, true
			}
			at += int(h.Length)
		case http1.BodyChunked:
			c := http1.ChunkReader{Request: true}
			for done := false; !done; {
				_, n, end, err := c.Next(wire[at:])
				if err != nil || n == 0 {
					return ends, err == nil
				}
				at, done = at+n, end
			}
		}
		ends = append(ends, at)
	}
	return ends, true
}

func BenchmarkHTTP1(b *testing.B) {
	p := http1.RequestParser{Fields: new(http1.Fields)}
	b.SetBytes(int64(len(plainHead)))
	b.ReportAllocs()
	for b.Loop() {
		if n, err := p.Parse(plainHead); n != len(plainHead) || err != nil {
			b.Fatal(n, err)
		}
	}
}
