package lab

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/weirhq/weir/lab/experiment"
	"github.com/weirhq/weir/lab/results"
)

// A part is the first message to a half of a duet.
type part struct {
	Source, Folder string // of the experiment
	Dir            string // of the results
	Weir, Repo     string // as in Options
}

// An order is a later message to a half. A run has one with its turn, and when it may send its load, one without.
type order struct {
	Turn *Turn `json:",omitempty"`
}

// A news is a message of a half. A run has one without a run when its service has been warmed up, unless it has ended
// before, and one with the run at its end.
type news struct {
	Run *results.Run `json:",omitempty"`
}

// ServeHalf makes the runs of a half of a duet, for the process that started this one by [Options].Duet: it reads
// orders from in, and writes the runs to out. It returns when in has ended or ctx is done, after it has stopped the
// service.
func ServeHalf(ctx context.Context, in io.Reader, out io.Writer) error {
	from, to := json.NewDecoder(in), json.NewEncoder(out)
	s, err := newHalf(from)
	if err != nil {
		return fmt.Errorf("half of a duet: %w", err)
	}
	defer s.reporter.stop()
	ctx, end := context.WithCancel(ctx)
	defer end()
	orders := make(chan order)
	go func() {
		defer end()
		receive(ctx, from, orders)
	}()
	s.together = func(ctx context.Context) {
		if to.Encode(news{}) != nil {
			return // so does the next one, which is the end
		}
		select {
		case <-orders:
		case <-ctx.Done():
		}
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case o := <-orders:
			if o.Turn == nil { // for a run that has ended meanwhile
				continue
			}
			r := s.measure(ctx, s.cases[o.Turn.Case], *o.Turn, nil)
			if ctx.Err() != nil {
				return nil
			}
			if err := to.Encode(news{Run: &r}); err != nil {
				return fmt.Errorf("half of a duet: %w", err)
			}
		}
	}
}

// newHalf returns the session of a half. It keeps no results.
func newHalf(from *json.Decoder) (*session, error) {
	var p part
	if err := from.Decode(&p); err != nil {
		return nil, fmt.Errorf("read the experiment: %w", err)
	}
	e, err := experiment.Parse("", []byte(p.Source))
	if err != nil {
		return nil, err
	}
	e.Folder = p.Folder
	s := &session{experiment: e, options: Options{Weir: p.Weir, Repo: p.Repo}, store: &store{dir: p.Dir}}
	if s.cases, err = configurations(e, true); err != nil {
		return nil, err
	}
	s.reporter = startReporter(nil)
	return s, nil
}

// receive passes orders on until there are no more, or ctx is done.
func receive(ctx context.Context, from *json.Decoder, orders chan<- order) {
	for {
		var o order
		if from.Decode(&o) != nil {
			return
		}
		select {
		case orders <- o:
		case <-ctx.Done():
			return
		}
	}
}
