package main

import (
	"fmt"
	"io"
	"os"
)

// progress shows the current measurement on a terminal. It is nil and silent elsewhere.
type progress struct{ w io.Writer }

func newProgress(w io.Writer) *progress {
	f, ok := w.(*os.File)
	if !ok {
		return nil
	}
	if info, err := f.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return nil
	}
	return &progress{f}
}

// at replaces the line; done removes it.
func (p *progress) at(step string) {
	if p != nil {
		fmt.Fprintf(p.w, "\r\x1b[K%s ...", step)
	}
}

func (p *progress) done() {
	if p != nil {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
