package measure

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"text/tabwriter"
)

// A Making builds an object that is kept. The measure is the time and the memory that this takes.
type Making struct {
	Name string
	Make func() (any, error)
}

// Made is a Making with its costs, pass by pass.
type Made struct {
	Name         string
	Milliseconds Series // CPU time, including the garbage collector
	Megabytes    Series // of the heap after a garbage collection
}

// Make builds each object once in each pass, interleaved, on one CPU.
func (p Plan) Make(ctx context.Context, makings []Making) ([]Made, error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	out := make([]Made, len(makings))
	for pass := range p.Passes {
		for k := range makings {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			i := (k + pass) % len(makings)
			out[i].Name = makings[i].Name
			if err := out[i].once(makings[i]); err != nil {
				return nil, fmt.Errorf("%s: %w", makings[i].Name, err)
			}
		}
	}
	return out, nil
}

func (m *Made) once(making Making) error {
	before := heap()
	start := ProcessorTime()
	made, err := making.Make()
	took := ProcessorTime() - start
	if err != nil {
		return err
	}
	m.Milliseconds = append(m.Milliseconds, float64(took.Microseconds())/1e3)
	m.Megabytes = append(m.Megabytes, (heap()-before)/1e6)
	runtime.KeepAlive(made)
	return nil
}

// heap returns the bytes in use. The second collection clears the memory that pools keep over the first.
func heap() float64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// WriteMade writes the rows, each compared to the one named peer.
func WriteMade(w io.Writer, title, peer string, rows []Made) error {
	fmt.Fprintf(w, "%s\n", title)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "ms\tspread\tto %s\tMB kept\tto %s\t\n", peer, peer)
	for _, m := range rows {
		time, memory, _ := JudgeMade(rows, m.Name, peer)
		fmt.Fprintf(t, "%s\t%s\t%.2f\t%.2f\t%.2f\t  %s\n", digits(m.Milliseconds.Median()),
			m.Milliseconds.Spread(), time,
			m.Megabytes.Median(), memory, m.Name)
	}
	return EndTable(t, w)
}

// JudgeMade returns the ratios of time and memory of ours to peer, and false if a row is missing.
func JudgeMade(rows []Made, ours, peer string) (time, memory float64, ok bool) {
	mine := First(rows, func(m Made) bool { return m.Name == ours })
	theirs := First(rows, func(m Made) bool { return m.Name == peer })
	if mine == nil || theirs == nil {
		return 0, 0, false
	}
	return mine.Milliseconds.Median() / theirs.Milliseconds.Median(),
		mine.Megabytes.Median() / theirs.Megabytes.Median(), true
}
