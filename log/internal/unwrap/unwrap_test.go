package unwrap_test

import (
	"bytes"
	"io"
	"testing"

	"github.com/weirhq/weir/log/internal/unwrap"
)

type layer struct{ io.Writer }

func (l layer) Unwrap() io.Writer { return l.Writer }

// A loop unwraps to itself.
type loop struct{ io.Writer }

func (l loop) Unwrap() io.Writer { return l }

func TestFirstFindsWriterBelowOthers(t *testing.T) {
	inner, outer := new(bytes.Buffer), new(bytes.Buffer)
	for name, c := range map[string]struct {
		w    io.Writer
		want *bytes.Buffer
	}{
		"itself":          {inner, inner},
		"below two":       {layer{layer{inner}}, inner},
		"below nil":       {layer{nil}, nil},
		"another type":    {io.Discard, nil},
		"nothing":         {nil, nil},
		"a loop":          {loop{inner}, nil},
		"not that deeply": {struct{ io.Writer }{outer}, nil},
	} {
		got, ok := unwrap.First[*bytes.Buffer](c.w)
		if got != c.want || ok != (c.want != nil) {
			t.Errorf("%s: First = %p, %v, want %p", name, got, ok, c.want)
		}
	}
}
