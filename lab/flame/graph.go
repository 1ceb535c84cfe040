package flame

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/google/pprof/profile"
)

// A Graph has the values of one kind from a profile, by call stack. It is safe
// for concurrent use.
type Graph struct {
	kind, unit string
	per        float64
	sample     float64 // value of one sample of the profile; 0 if it is not known
	root       *frame  // has no function; the beginning of all stacks
}

// A frame is a function called by a certain stack.
type frame struct {
	name   string
	value  float64 // with the functions that it called
	self   float64 // without them
	called map[string]*frame
}

// New returns the graph of a profile's values of a kind, "cpu" or
// "alloc_space"; "" is the profile's default. The values are divided by per,
// the number of requests for example, so that profiles of different amounts of
// work can be compared. 0 means 1. Negative values, which differences of
// profiles have, are left out.
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

// valueIndex returns the index of a kind of value in each sample.
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
	for i := len(s.Location) - 1; i >= 0; i-- { // the first is the innermost
		for _, name := range functions(s.Location[i]) {
			at = at.call(name)
			at.value += value
		}
	}
	at.self += value
}

// functions returns the functions of a location, callers first. Later lines
// have inlined the earlier ones.
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

// chance reports whether two values differ by less than two standard errors of
// their difference, as values of the same program do 19 times of 20. A profile
// counts samples, and the variance of a count is the count.
func chance(base, new *Graph, b, n float64) bool {
	difference := n - b
	return difference*difference < 4*(b*base.sample+n*new.sample)
}

// sorted returns the called frames, by name.
func (f *frame) sorted() []*frame {
	all := make([]*frame, 0, len(f.called))
	for _, c := range f.called {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b *frame) int { return strings.Compare(a.name, b.name) })
	return all
}

// Total returns the sum, divided as New describes.
func (g *Graph) Total() float64 { return g.root.value }

// Kind returns the kind of the values, "alloc_space" for example.
func (g *Graph) Kind() string { return g.kind }

// Text formats a value: "1.25 s", "640 KiB", "12,000".
func (g *Graph) Text(value float64) string { return text(value, g.unit) }
