package flame

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/google/pprof/profile"
)

// A Graph is what a profile has of one kind, by call stack. It may be read by
// several goroutines.
type Graph struct {
	kind, unit string
	per        float64
	sample     float64 // what one sample of the profile stands for; 0 when it is not known
	root       *frame  // of no function: all stacks begin in it
}

// A frame is a function as it was called by those above it.
type frame struct {
	name   string
	value  float64 // with all that it has called
	self   float64 // without
	called map[string]*frame
}

// New returns the graph of a profile's values of a kind, "cpu" or
// "alloc_space"; "" is the one that the profile itself prefers. The values are
// divided by per, so that profiles of more and of less work can be compared:
// by the number of requests. 0 divides by nothing. Values below 0, which
// differences of profiles have, are left out.
func New(p *profile.Profile, kind string, per float64) (*Graph, error) {
	at, err := valueIndex(p, kind)
	if err != nil {
		return nil, err
	}
	if per <= 0 {
		per = 1
	}
	g := &Graph{kind: p.SampleType[at].Type, unit: p.SampleType[at].Unit, per: per, root: &frame{name: "all"}}
	if p.PeriodType != nil && p.PeriodType.Unit == g.unit {
		g.sample = float64(p.Period) / per
	}
	for _, s := range p.Sample {
		if value := s.Value[at]; value > 0 {
			g.add(s, float64(value)/per)
		}
	}
	return g, nil
}

// valueIndex returns where in each sample the values of a kind are.
func valueIndex(p *profile.Profile, kind string) (int, error) {
	if len(p.SampleType) == 0 {
		return 0, fmt.Errorf("a profile without any kind of value")
	}
	if kind == "" {
		kind = cmp.Or(p.DefaultSampleType, p.SampleType[len(p.SampleType)-1].Type)
	}
	var has []string
	for i, t := range p.SampleType {
		if t.Type == kind {
			return i, nil
		}
		has = append(has, t.Type)
	}
	return 0, fmt.Errorf("the profile has nothing of kind %q, but %s", kind, strings.Join(has, ", "))
}

func (g *Graph) add(s *profile.Sample, value float64) {
	at := g.root
	at.value += value
	if len(s.Location) == 0 {
		at = at.call("(no stack)")
		at.value += value
	}
	for i := len(s.Location) - 1; i >= 0; i-- { // the first has not called anyone
		for _, name := range functions(s.Location[i]) {
			at = at.call(name)
			at.value += value
		}
	}
	at.self += value
}

// functions returns the functions of a location, whose later ones have the
// earlier inlined, callers first.
func functions(l *profile.Location) []string {
	names := make([]string, 0, 1)
	for _, line := range slices.Backward(l.Line) {
		if line.Function != nil && line.Function.Name != "" {
			names = append(names, line.Function.Name)
		}
	}
	if len(names) == 0 {
		names = append(names, fmt.Sprintf("0x%x", l.Address))
	}
	return names
}

func (f *frame) call(name string) *frame {
	next := f.called[name]
	if next == nil {
		next = &frame{name: name}
		if f.called == nil {
			f.called = make(map[string]*frame)
		}
		f.called[name] = next
	}
	return next
}

// chance tells whether two values differ by less than two standard errors of
// their difference, as values of one program would 19 times of 20. A profile
// counts samples, whose variance is their number.
func chance(base, new *Graph, b, n float64) bool {
	difference := n - b
	return difference*difference < 4*(b*base.sample+n*new.sample)
}

// sorted returns what was called, by name.
func (f *frame) sorted() []*frame {
	all := make([]*frame, 0, len(f.called))
	for _, c := range f.called {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b *frame) int { return strings.Compare(a.name, b.name) })
	return all
}

// Total returns all of it, in Unit, divided as New was told to.
func (g *Graph) Total() float64 { return g.root.value }

// Kind returns which of the profile's values these are, "alloc_space".
func (g *Graph) Kind() string { return g.kind }

// Text writes a value as people read it: "1.25 s", "640 KiB", "12,000".
func (g *Graph) Text(value float64) string { return text(value, g.unit) }
