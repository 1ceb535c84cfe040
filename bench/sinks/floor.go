package sinks

import (
	"io"
	"os"

	"golang.org/x/sys/unix"

	"github.com/weirhq/weir/bench/log"
)

const gathered = 64

// openFloor writes finished lines, separately for each goroutine, several in one call.
func openFloor(o output) (*opened, error) {
	f, err := o.file()
	if err != nil {
		return nil, err
	}
	lines := log.Finished()
	return &opened{close: f.Close, producer: func() producer {
		w := &gathering{file: f, pending: make([][]byte, 0, gathered)}
		return producer{receive: func() {}, event: func(i int) { w.add(lines[i]) }, end: w.end}
	}}, nil
}

// openNowhere makes the lines without writing them. Together with the floor it is the cost of a sink of Weir without
// overhead.
func openNowhere(output) (*opened, error) {
	return logging(log.ByWeir(io.Discard), func() error { return nil }, nil), nil
}

// openNothing measures the producers themselves, with their clocks and pauses.
func openNothing(output) (*opened, error) {
	idle := producer{receive: func() {}, event: func(int) {}, end: func() error { return nil }}
	return &opened{producer: func() producer { return idle }, close: idle.end}, nil
}

// gathering buffers lines until there are enough.
type gathering struct {
	file    *os.File
	pending [][]byte
	err     error // the first one
}

func (g *gathering) add(line []byte) {
	if g.pending = append(g.pending, line); len(g.pending) == gathered {
		g.flush()
	}
}

func (g *gathering) end() error {
	g.flush()
	return g.err
}

// flush writes the buffered lines. After a short write it continues line by line.
func (g *gathering) flush() {
	n, err := unix.Writev(int(g.file.Fd()), g.pending)
	if err == unix.EINTR {
		n, err = 0, nil
	}
	for _, line := range g.pending {
		if err != nil {
			break
		}
		if n < len(line) {
			_, err = g.file.Write(line[n:])
		}
		n = max(n-len(line), 0)
	}
	if g.err == nil {
		g.err = err
	}
	g.pending = g.pending[:0]
}
